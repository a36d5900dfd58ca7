"""Removed versions: what they were, so that their label is never given to other content.

A node may hold the old `v3` staged; another `v3` would make it lie. A removal is a copy of
the version's record under `removed/`, written before the record goes and kept for ever. While
the record is still there, the version is: a removal alone means nothing.
"""

from __future__ import annotations

import time

from stager.catalog import landed
from stager.errors import IntegrityError, ObjectNotFound, PreconditionFailed
from stager.model import layout
from stager.model.version import MAX_RECORD_BYTES
from stager.storage.store import ObjectStore


def bury(store: ObjectStore, name: str, label: str, record: bytes, verified: bytes | None) -> None:
    """Writes the removal; repeating it makes it young again, for it counts from the last try.

    IntegrityError when another version of that label was removed before.
    """
    key = layout.removed_key(name, label)
    try:
        landed.create(store, key, record)
    except PreconditionFailed:
        if content(store, name, label) != record:
            reason = "another version of that label was removed before"
            raise IntegrityError(where=f"{name}@{label}", reason=reason) from None
        landed.put(store, key, record)
    if verified is not None:
        landed.put(store, layout.buried_key(name, label), verified)


def content(store: ObjectStore, name: str, label: str) -> bytes | None:
    """The bytes that the record of a removed version had, None when it was not removed."""
    key = layout.removed_key(name, label)
    try:
        return bytes(store.read(key, MAX_RECORD_BYTES))
    except ObjectNotFound:
        return None


def when(store: ObjectStore, name: str, label: str) -> str:
    """`2026-12-01 04:00 UTC` by the store's clock, empty when the version was not removed."""
    try:
        moment = store.head(layout.removed_key(name, label)).modified
    except ObjectNotFound:
        return ""
    try:
        return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(moment))
    except (ValueError, OverflowError, OSError):  # a time from outside may be any number
        return "an unknown day"


def labels(store: ObjectStore, name: str) -> list[str]:
    """Labels with a removal, in no order."""
    parsed = (layout.parse_record_key(i.key) for i in store.list(layout.removed_prefix(name)))
    return [one.version for one in parsed if one and one.role == "removed" and one.name == name]
