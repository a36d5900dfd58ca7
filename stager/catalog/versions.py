"""Version records: finding, reading, and the create-only write that makes a version."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace

from stager.catalog import landed, removed, tags
from stager.catalog.again import twice
from stager.errors import (
    IntegrityError,
    ManifestInvalid,
    ObjectNotFound,
    PreconditionFailed,
    VersionExists,
    VersionNotFound,
)
from stager.model import layout, names, version
from stager.model.names import Reference
from stager.model.version import MAX_RECORD_BYTES, VersionRecord
from stager.storage.store import ObjectStore

RACES = 50


def read(store: ObjectStore, name: str, label: str) -> VersionRecord:
    """The record of one version in one request; ObjectNotFound when there is none.

    A version adopted by ETag costs one request more: its confirmed record, if there is one.
    """
    record = read_at(store, layout.version_key(name, label), name, label)
    if not record.is_hashed:
        with contextlib.suppress(ObjectNotFound):
            return read_at(store, layout.verified_key(name, label), name, label)
    return record


def confirm(store: ObjectStore, record: VersionRecord) -> None:
    """Leaves the digests found by a first pull for everybody; they must agree."""
    key = layout.verified_key(record.name, record.version)
    try:
        landed.create(store, key, record.encode())
    except PreconditionFailed:
        other = read_at(store, key, record.name, record.version)
        if other.tree != record.tree:
            reason = f"somebody pulled other content before: {other.tree}, here {record.tree}"
            raise IntegrityError(where=f"{record.name}@{record.version}", reason=reason) from None


def read_at(store: ObjectStore, key: str, name: str, label: str) -> VersionRecord:
    """The record at a key, which must be one of this version; ObjectNotFound without one."""
    return twice(lambda: _read_once(store, key, name, label))


def _read_once(store: ObjectStore, key: str, name: str, label: str) -> VersionRecord:
    data = store.read(key, MAX_RECORD_BYTES)
    record = version.decode(bytes(data), f"{store.url}/{key}")
    if (record.name, record.version) != (name, label):
        reason = f"it says it is {record.name}@{record.version}"
        raise ManifestInvalid(where=key, kind="version record", reason=reason)
    return record


def labels(store: ObjectStore, name: str) -> list[str]:
    """Versions of a dataset, oldest first: by number, labels before by time of writing."""
    found: list[tuple[int, float, str]] = []
    for info in store.list(layout.versions_prefix(name)):
        parsed = layout.parse_version_key(info.key)
        if parsed and parsed[0] == name:
            number = names.version_number(parsed[1]) or 0
            found.append((number, info.modified if not number else 0.0, parsed[1]))
    return [label for _, _, label in sorted(found)]


def datasets(store: ObjectStore) -> list[str]:
    """Names of all datasets with at least one version."""
    parsed = (layout.parse_version_key(info.key) for info in store.list(layout.DATASETS))
    return sorted({found[0] for found in parsed if found})


def resolve(store: ObjectStore, reference: Reference) -> VersionRecord:
    """The record a reference means.

    A version is read in one request. What is not a version may be a tag: one listing more.
    VersionNotFound names what is near.
    """
    name, selector = reference.name, reference.selector
    if not reference.is_latest:
        assert selector is not None
        try:
            return read(store, name, selector)
        except ObjectNotFound:
            target = (
                tags.read(store, name, selector) if not names.version_number(selector) else None
            )
        if target is not None:
            try:
                return read(store, name, target)
            except ObjectNotFound as problem:
                gone = removed.when(store, name, target)
                nearest = f"; the tag points to {target}, which "
                nearest += f"was removed on {gone}" if gone else "is gone"
                raise VersionNotFound(reference=str(reference), nearest=nearest) from problem
    known = labels(store, name)
    if reference.is_latest and known:
        return read(store, name, known[-1])
    raise _not_found(store, reference, known)


def commit(
    store: ObjectStore, record: VersionRecord, label: str | None, on_race: Callable[[], None]
) -> VersionRecord:
    """Writes the record under `label`, or under the next free number; what was written.

    The create-only write decides races: of two pushes of the same number one gets the
    next. VersionExists when a given label is taken, or was until it was removed.
    """
    if label is not None:
        if tags.read(store, record.name, label) is not None:
            raise VersionExists(reference=f"{record.name}@{label}", hint="that name is a tag")
        if (gone := removed.when(store, record.name, label)) and not _exists(store, record, label):
            raise VersionExists(reference=f"{record.name}@{label}", hint=_given_once(gone))
        return _create(store, replace(record, version=label))
    number = next_number(store, record.name)
    for attempt in range(RACES):
        try:
            return _create(store, replace(record, version=names.numbered(number + attempt)))
        except VersionExists:
            on_race()
    raise VersionExists(reference=f"{record.name}@{names.numbered(number)}")


def next_number(store: ObjectStore, name: str) -> int:
    """One above the highest number that a version has or had.

    Removals are listed last: a version that is removed meanwhile is in one of the listings.
    """
    known = [*labels(store, name), *removed.labels(store, name)]
    return max((names.version_number(label) or 0 for label in known), default=0) + 1


def _create(store: ObjectStore, record: VersionRecord) -> VersionRecord:
    key, data = layout.version_key(record.name, record.version), record.encode()
    reference = f"{record.name}@{record.version}"
    try:
        landed.create(store, key, data)
    except PreconditionFailed as problem:
        raise VersionExists(reference=reference) from problem
    # Somebody may have made and removed another version of that name since we looked. A
    # removal with our own bytes is one of this very version, by somebody who was quick.
    if removed.content(store, record.name, record.version) not in (None, data):
        store.delete([key])
        gone = removed.when(store, record.name, record.version)
        raise VersionExists(reference=reference, hint=_given_once(gone))
    return record


def _exists(store: ObjectStore, record: VersionRecord, label: str) -> bool:
    with contextlib.suppress(ObjectNotFound):
        store.head(layout.version_key(record.name, label))
        return True
    return False


def _given_once(gone: str) -> str:
    return f"it was removed on {gone}; a label is given once, for nodes may hold the old one"


def _not_found(store: ObjectStore, reference: Reference, known: list[str]) -> VersionNotFound:
    selector = "" if reference.is_latest else reference.selector
    if selector and (gone := removed.when(store, reference.name, selector)):
        near = f"; it was removed on {gone}"
    elif known:
        wanted = reference.selector or ""
        near = names.nearest(wanted, known) or f"; the latest is {known[-1]}"
    elif removed.labels(store, reference.name):
        near = "; all its versions were removed"
    else:
        near = names.nearest(reference.name, datasets(store)) or "; the remote has no such dataset"
    return VersionNotFound(reference=str(reference), nearest=near)
