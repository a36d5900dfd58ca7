"""rm: takes versions out of the remote. Their bytes go with the next `gc` after its grace.

The removal is written first, then the record goes: killed anywhere, the version is whole or
removed, and the same command again completes it. A tag that appears meanwhile is seen on one
side: `tag` looks at the record after it moved, `rm` at the tags after the record went, and
puts the record back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from stager.catalog import remote, removed, tags
from stager.catalog.tags import TagMovement
from stager.errors import (
    ManifestInvalid,
    ObjectNotFound,
    PreconditionFailed,
    TagMoved,
    UsageError,
    VersionHeld,
    VersionNotFound,
)
from stager.model import layout, version
from stager.model.names import Reference
from stager.model.version import MAX_RECORD_BYTES
from stager.storage.store import ObjectStore
from stager.workspace import Workspace, utc_now

TRIES = 5
FORCE = "--force removes the tag as well"


@dataclass(frozen=True, slots=True)
class RmRequest:
    """Versions by their labels; `force` takes their tags away too, and broken records."""

    references: Sequence[Reference]
    force: bool = False


@dataclass(frozen=True, slots=True)
class RemovedVersion:
    """A version that is gone, or would be; `already` when it was before this call."""

    reference: str
    tags: tuple[str, ...]  # that pointed to it and were removed as well
    already: bool = False


@dataclass(frozen=True, slots=True)
class RmReport:
    """What was removed, in the order it was asked for."""

    versions: tuple[RemovedVersion, ...]
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class _Target:
    reference: Reference
    label: str
    record: bytes | None  # None: the record is gone already
    verified: bytes | None
    tags: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.reference.name


def rm(workspace: Workspace, request: RmRequest, dry_run: bool = False) -> RmReport:
    """Removes every version, or none: what cannot be removed is named before anything is done."""
    _check(request)
    store = remote.open_for_reading(workspace.remote)
    wanted = list(dict.fromkeys(request.references))
    targets = _targets(store, wanted, request.force)
    if not dry_run:
        store = remote.open_for_writing(workspace.remote, workspace.listener)
    if not request.force:
        _refuse_held(store, targets, dry_run)
    if not dry_run:
        targets = [_removed(workspace, store, each, request.force) for each in targets]
    return RmReport(
        tuple(
            RemovedVersion(str(each.reference), each.tags, each.record is None) for each in targets
        ),
        dry_run,
    )


def _check(request: RmRequest) -> None:
    vague = [str(each) for each in request.references if each.is_latest]
    if vague or not request.references:
        reason = f"{', '.join(vague) or 'nothing'}: name a version, as in NAME@v1"
        raise UsageError(reason=reason)


def _targets(store: ObjectStore, wanted: Sequence[Reference], force: bool) -> list[_Target]:
    pointed = {name: tags.everything(store, name) for name in {each.name for each in wanted}}
    found = [_target(store, each, pointed[each.name], force) for each in wanted]
    missing = [str(each) for each, target in zip(wanted, found, strict=True) if target is None]
    if missing:
        known = {tag for each in wanted for tag in pointed[each.name]}
        are_tags = [each for each in missing if each.partition("@")[2] in known]
        hint = f"{', '.join(are_tags)}: a tag; `stager tag --delete` removes it" if are_tags else ""
        raise VersionNotFound(reference=", ".join(missing), hint=hint)
    return [each for each in found if each is not None]


def _target(
    store: ObjectStore, reference: Reference, pointed: dict[str, str], force: bool
) -> _Target | None:
    """What is known of a version before anything is done; None when there never was one."""
    label = reference.selector or ""
    name = reference.name
    record = _bytes(store, layout.version_key(name, label))
    if record is None and not removed.when(store, name, label):
        return None
    if record is not None and not force:
        version.decode(record, f"{store.url}/{layout.version_key(name, label)}")
    verified = _bytes(store, layout.verified_key(name, label))
    return _Target(reference, label, record, verified, _pointing(pointed, label))


def _removed(workspace: Workspace, store: ObjectStore, target: _Target, force: bool) -> _Target:
    """Removes one version; what was known of it, with the tags that had to go."""
    name, label = target.name, target.label
    if target.record is not None:
        removed.bury(store, name, label, target.record, target.verified)
    gone = _freed_of_tags(workspace, store, target, force)
    store.delete([layout.version_key(name, label)])
    try:
        gone += _freed_of_tags(workspace, store, target, force)
    except VersionHeld:
        _put_back(store, target)  # the tag came between our look and the end of the record
        raise
    store.delete([layout.verified_key(name, label)])
    return replace(target, tags=tuple(dict.fromkeys(gone)))


def _freed_of_tags(
    workspace: Workspace, store: ObjectStore, target: _Target, force: bool
) -> tuple[str, ...]:
    """The tags that were taken off the version; VersionHeld where they may not be."""
    gone: list[str] = []
    for _ in range(TRIES):
        held = _pointing(tags.everything(store, target.name), target.label)
        if not held:
            return tuple(gone)
        if not force:
            raise VersionHeld(reference=_told(replace(target, tags=held)), hint=FORCE)
        for tag in held:
            with contextlib.suppress(TagMoved):  # somebody else was there: look again
                movement = TagMovement("", utc_now(), workspace.config.author)
                tags.move(store, target.name, tag, movement)
                gone.append(tag)
    raise TagMoved(reference=f"{target.name}@{held[0]}")


def _put_back(store: ObjectStore, target: _Target) -> None:
    """The version is held by a tag that came meanwhile: it exists again, all bytes are there."""
    record = target.record or removed.content(store, target.name, target.label)
    assert record is not None
    with contextlib.suppress(PreconditionFailed):  # another rm put it back
        store.create(layout.version_key(target.name, target.label), record)


def _refuse_held(store: ObjectStore, targets: Sequence[_Target], dry_run: bool) -> None:
    """VersionHeld naming all that tags point to, before anything is removed."""
    held = [each for each in targets if each.tags]
    for each in held:
        if each.record is None and not dry_run:  # an rm was killed before it could put it back
            _put_back(store, each)
    if held:
        raise VersionHeld(reference=", ".join(map(_told, held)), hint=FORCE)


def _told(target: _Target) -> str:
    return f"{target.reference} ({', '.join(target.tags)})"


def _pointing(pointed: dict[str, str], label: str) -> tuple[str, ...]:
    return tuple(sorted(tag for tag, target in pointed.items() if target == label))


def _bytes(store: ObjectStore, key: str) -> bytes | None:
    try:
        if (size := store.head(key).size) > MAX_RECORD_BYTES:
            raise ManifestInvalid(where=key, kind="version record", reason=f"{size} bytes")
        return bytes(store.get(key))
    except ObjectNotFound:
        return None
