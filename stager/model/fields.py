"""The fields of a record: its key, and where two records of one key differ."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

Hook = Callable[[list[tuple[str, Any]]], dict[str, Any]]

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
    values; a field that is missing differs from one that is null. Where a record is no
    object, or names a field twice, the whole of it differs.
    """
    one, other = _leaves(before), _leaves(after)
    paths = (path for path in one | other if one.get(path) != other.get(path))
    return tuple(sorted({".".join(path) for path in paths}))


def _parsed(record: bytes, hook: Hook | None = None) -> dict[str, Any] | None:
    try:
        document = json.loads(record, object_pairs_hook=hook)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _leaves(record: bytes) -> dict[tuple[str, ...], str]:
    document = _parsed(record, _once)
    if document is not None:
        with contextlib.suppress(RecursionError):  # nested too deep to be written
            return dict(_walk(document))
    return {(WHOLE,): record.decode(errors="backslashreplace")}


def _walk(document: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    pending: list[tuple[tuple[str, ...], Any]] = [((name,), document[name]) for name in document]
    while pending:
        path, value = pending.pop()
        if isinstance(value, dict) and value:
            pending += [((*path, name), value[name]) for name in value]
        else:
            yield path, _canonical(value)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, ValueError when it names a field twice: which one counts is anybody's guess."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field stands twice")
    return found


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
