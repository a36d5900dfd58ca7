"""Tags: movable names, as a series of create-only objects whose highest number wins.

Moving a tag creates the object with the next number; two who move it at once collide on
that key and one of them is told. A compare-and-swap that needs no more than create-only.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from stager.catalog import landed
from stager.catalog.again import twice
from stager.errors import ManifestInvalid, PreconditionFailed, TagMoved, UsageError
from stager.model import layout, names
from stager.storage.store import ObjectStore

FORMAT = 1
MAX_TAG_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class TagMovement:
    """A tag at a version since `time`; an empty version means the tag was removed."""

    version: str
    time: str
    author: str
    format: int = FORMAT


def read(store: ObjectStore, name: str, tag: str) -> str | None:
    """The version a tag points to, None when there is no such tag."""
    sequence = _highest(store, name, tag)
    return read_movement(store, name, tag, sequence).version or None if sequence else None


def move(store: ObjectStore, name: str, tag: str, movement: TagMovement) -> None:
    """Points `tag` at a version; TagMoved when somebody else did at the same moment."""
    sequence = _highest(store, name, tag) + 1
    data = json.dumps(asdict(movement), sort_keys=True, ensure_ascii=False).encode()
    try:
        landed.create(store, layout.tag_key(name, tag, sequence), data)
    except PreconditionFailed as problem:
        raise TagMoved(reference=f"{name}@{tag}") from problem


def everything(store: ObjectStore, name: str) -> dict[str, str]:
    """All tags of a dataset and their versions."""
    newest: dict[str, int] = {}
    for info in store.list(layout.tags_prefix(name)):
        parsed = layout.parse_tag_key(info.key)
        if parsed and parsed[0] == name:
            newest[parsed[1]] = max(newest.get(parsed[1], 0), parsed[2])
    pointed = {tag: read_movement(store, name, tag, at).version for tag, at in newest.items()}
    return {tag: version for tag, version in pointed.items() if version}


def _highest(store: ObjectStore, name: str, tag: str) -> int:
    found = (layout.parse_tag_key(info.key) for info in store.list(layout.tags_prefix(name, tag)))
    return max((parsed[2] for parsed in found if parsed), default=0)


def read_movement(store: ObjectStore, name: str, tag: str, sequence: int) -> TagMovement:
    """One movement of a tag; ManifestInvalid when it is none."""
    key = layout.tag_key(name, tag, sequence)
    return twice(lambda: _read_once(store, key))


def _read_once(store: ObjectStore, key: str) -> TagMovement:
    data = bytes(store.read(key, MAX_TAG_BYTES))
    try:
        movement = TagMovement(**json.loads(data))
        if movement.format != FORMAT:
            raise ValueError(f"format {movement.format!r} is newer than this stager reads")
        for text in (movement.version, movement.time, movement.author):
            if not isinstance(text, str):
                raise ValueError("text expected")
        if movement.version:
            names.check_label(movement.version)
    except (ValueError, TypeError, RecursionError, UsageError) as problem:
        raise ManifestInvalid(where=f"{store.url}/{key}", kind="tag", reason=str(problem)) from None
    return movement
