"""The fields of a record: its key, and where two records of one key differ."""

from __future__ import annotations

import json
from typing import Any

WHOLE = ""  # the field of records that cannot be told apart any further


def key_of(record: bytes, field: str) -> str | None:
    """The value of `field` as JSON; None where it is missing or null, or the line is no object.

    A dot leads into an object: `meta.id`. A field whose name is the whole text comes first.
    """
    document = _parsed(record)
    value: Any = document.get(field) if document is not None else None
    if value is None:
        value = document
        for name in field.split("."):
            value = value.get(name) if isinstance(value, dict) else None
    try:
        return None if value is None else _canonical(value)
    except RecursionError:
        return None


def differing(before: bytes, after: bytes) -> tuple[str, ...]:
    """Dotted names of the fields that differ, sorted; none where only spaces or order do.

    Objects are looked into, everything else is compared whole. 1, 1.0 and true are three
    values; a field that is missing differs from one that is null.
    """
    one, other = _leaves(before), _leaves(after)
    return tuple(sorted(name for name in one | other if one.get(name) != other.get(name)))


def _parsed(record: bytes) -> dict[str, Any] | None:
    try:
        document = json.loads(record)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _leaves(record: bytes) -> dict[str, str]:
    document = _parsed(record)
    if document is None:
        return {WHOLE: record.decode(errors="backslashreplace")}
    found: dict[str, str] = {}
    pending: list[tuple[str, Any]] = [("", document)]
    try:
        while pending:
            name, value = pending.pop()
            if isinstance(value, dict) and (value or not name):
                prefix = f"{name}." if name else ""
                pending += [(prefix + inner, value[inner]) for inner in value]
            else:
                found[name] = _canonical(value)
    except RecursionError:  # nested too deep to be written
        return {WHOLE: record.decode(errors="backslashreplace")}
    return found


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
