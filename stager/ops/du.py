"""du: what the versions of a remote cost, what they share, and what removing one would free."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from stager.catalog import census, placements, remote, versions
from stager.catalog.census import Census, Version
from stager.catalog.inventory import content
from stager.errors import VersionNotFound
from stager.model import layout, names
from stager.model.holdings import Holdings
from stager.model.version import VersionRecord
from stager.storage.store import ObjectStore
from stager.transfer.workers import in_order
from stager.workspace import Workspace

SHARED = -1
OFFSET_BITS = 48  # of a frame's identity: an object has less than 2**48 bytes


@dataclass(frozen=True, slots=True)
class VersionUsage:
    """One version; bytes.

    `added` are frames that no earlier version refers to, `shared` those that one does.
    `frees` is what removing this version alone lets `gc` delete: whole objects, so less than
    it added where another version uses a part of them.
    """

    reference: str
    raw: int
    added: int
    shared: int
    frees: int


@dataclass(frozen=True, slots=True)
class DuReport:
    """Versions, oldest first within their dataset; totals of the whole remote. Bytes.

    `stored` are the frames that versions refer to, `dead` what else lies in the same objects,
    `metadata` their placements and record indexes, `unreferenced` everything that `gc` will
    free in time. `whole` is what the same versions would take if each were uploaded as it
    is, and `ratio` how many times more that would be. Adopted objects are the user's and
    count nowhere but in `raw`.
    """

    versions: tuple[VersionUsage, ...]
    stored: int
    dead: int
    metadata: int
    unreferenced: int
    whole: int
    ratio: float


class _Read(NamedTuple):
    """A version with all that it holds on to; its placements, the verified one too."""

    record: VersionRecord
    holdings: Holdings
    placements: tuple[str, ...]


def du(workspace: Workspace, wanted: Sequence[str] = ()) -> DuReport:
    """Reads every record and placement: what a version adds depends on all before it."""
    for name in wanted:
        names.check_name(name)
    store = remote.open_for_reading(workspace.remote)
    found = census.take(store)
    known = {name for name, _ in found.versions}
    if missing := [name for name in wanted if name not in known]:
        near = names.nearest(missing[0], known) if len(missing) == 1 else ""
        raise VersionNotFound(reference=", ".join(missing), nearest=near)
    sizes = {info.key: info.size for _, info in content(store)}
    account = _Account(sizes, workspace.remote_url + "/")
    for read in _each(workspace, store, found):
        account.add(read)
    return account.report(set(wanted) or known)


def _each(workspace: Workspace, store: ObjectStore, found: Census) -> Iterator[_Read]:
    """Every version, oldest first."""
    connections = workspace.config.transfer.connections

    def record(version: Version) -> list[VersionRecord]:
        roles = (found.versions, found.verified)
        keys = [role[version].key for role in roles if version in role]
        return [versions.read_at(store, key, *version) for key in keys]

    def read(records: list[VersionRecord]) -> _Read:
        holdings = placements.read_holdings(store, records[-1].placement)
        return _Read(records[-1], holdings, tuple(each.placement.key for each in records))

    records = list(in_order(found.versions, record, connections, 2 * connections))
    records.sort(key=lambda each: _age(each[0]))
    yield from in_order(records, read, connections, 2 * connections)


def _age(record: VersionRecord) -> tuple[str, str, int]:
    return record.time, record.name, names.version_number(record.version) or 0


@dataclass(slots=True)
class _Account:
    """Who refers to which object, and to which frames; filled version by version."""

    sizes: dict[str, int]  # of all content in the remote
    below: str  # how an absolute URL of something in the remote begins
    rows: list[tuple[VersionRecord, int, int]] = field(default_factory=list)
    _owner: dict[str, int] = field(default_factory=dict)
    _frames: set[int] = field(default_factory=set)
    _packs: dict[str, int] = field(default_factory=dict)
    _stored: int = 0
    _whole: int = 0

    def add(self, read: _Read) -> None:
        """One version later than all before."""
        number = len(self.rows)
        keys = [pack.key.removeprefix(self.below) for pack in read.holdings.packs]
        frames = self._own_frames(read.holdings, keys)
        added = sum(size for frame, size in frames.items() if frame not in self._frames)
        self._frames.update(frames)
        self._stored += added
        self.rows.append((read.record, added, sum(frames.values()) - added))
        if any(key in self.sizes for key in keys) or not keys:
            self._whole += read.record.bytes_raw
        for key in self._objects(read, keys):
            if self._owner.setdefault(key, number) != number:
                self._owner[key] = SHARED

    def report(self, wanted: set[str]) -> DuReport:
        """The versions of these datasets, and the totals."""
        frees = [0] * len(self.rows)
        by_kind = {True: 0, False: 0}  # metadata, content
        for key, number in self._owner.items():
            by_kind[key.startswith((layout.PLACEMENTS, layout.RECORDS))] += self.sizes[key]
            if number != SHARED:
                frees[number] += self.sizes[key]
        usages = [
            VersionUsage(f"{record.name}@{record.version}", record.bytes_raw, added, shared, free)
            for (record, added, shared), free in zip(self.rows, frees, strict=True)
            if record.name in wanted
        ]
        usages.sort(key=lambda usage: usage.reference.partition("@")[0])
        total = by_kind[True] + by_kind[False]
        return DuReport(
            versions=tuple(usages),
            stored=self._stored,
            dead=by_kind[False] - self._stored,
            metadata=by_kind[True],
            unreferenced=sum(self.sizes.values()) - total,
            whole=self._whole,
            ratio=round(self._whole / total, 2) if total else 0.0,
        )

    def _own_frames(self, holdings: Holdings, keys: list[str]) -> dict[int, int]:
        """Stored size by identity, without the frames of adopted objects."""
        numbers = [
            self._packs.setdefault(key, len(self._packs)) if key in self.sizes else None
            for key in keys
        ]
        frames: dict[int, int] = {}
        for pack, offset, stored in holdings.spans():
            number = numbers[pack]
            if number is not None:
                frames[number << OFFSET_BITS | offset] = stored
        return frames

    def _objects(self, read: _Read, keys: list[str]) -> Iterator[str]:
        """What `gc` keeps for the sake of this version. Empty plain files weigh nothing."""
        indexes = (layout.records_key(key) for key in keys if key.startswith(layout.PACKS))
        yield from (key for key in (*keys, *indexes, *read.placements) if key in self.sizes)
