"""survey: which objects the versions of a remote refer to, for `gc`.

Fails closed: whatever cannot be read, is named and not there, or there and not listed, is an
error. What can be read twice is: a second `look` lists the records again and reads only
those that are new, so that versions made meanwhile count.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from stager.catalog import census, placements, tags, versions
from stager.catalog.census import Census, Holder, Version
from stager.errors import ObjectNotFound, RetentionRefused
from stager.model import layout
from stager.model.digest import Digest
from stager.model.holdings import Holdings
from stager.model.version import VersionRecord
from stager.storage.store import ObjectInfo, ObjectStore
from stager.transfer.workers import for_each
from stager.workspace import Workspace

CLOCKS_APART = 300.0  # seconds by which a record may seem to be older than this survey

T = TypeVar("T")

Named = tuple[Version, str]  # a version, and who says that it is there


@dataclass(slots=True)
class Survey:
    """Keys below the remote that must stay; grows with every look.

    `since` is the moment, by the store's clock, after which a removal does not count yet:
    a running push may build on what was removed. With `trusting`, records that are named
    but gone are no reason to stop.
    """

    workspace: Workspace
    since: float
    began: float
    trusting: bool = False
    keys: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)  # of plain versions
    live: set[Version] = field(default_factory=set)
    removed: set[Version] = field(default_factory=set)  # and counted as if they were not
    _read: set[str] = field(default_factory=set)
    _tags: dict[tuple[str, str, int], str] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def look(self) -> Census:
        """Reads every record not read before; the listing it went by."""
        store = self.workspace.remote
        found = census.take(store)
        self._each(found.tags.items(), self._read_tag)
        pointed = self._tagged(found)
        named: list[Named] = [(version, f"tag {tag}") for version, tag in pointed.items()]
        tagged = set(pointed)
        holders = [each for each in found.holders(self.since, tagged) if each.key not in self._read]
        self._each(holders, lambda holder: named.extend(self._read_holder(holder)))
        self._account_for(found, named)
        return found

    def orphans(self, found: Census) -> list[ObjectInfo]:
        """Companion records of versions that are gone for good."""
        return list(found.orphans(self.since, set(self._tagged(found))))

    def holds(self, kind: str, info: ObjectInfo) -> bool:
        """Whether some version refers to the object.

        Empty files of a plain version need no frame, so nothing names them but their folder.
        """
        if kind == "indexes":
            return layout.PACKS + info.key.removeprefix(layout.RECORDS) in self.keys
        if kind == "plain" and info.size == 0:
            return any(info.key.startswith(folder) for folder in self.folders)
        return info.key in self.keys

    def _read_tag(self, item: tuple[tuple[str, str], int]) -> None:
        (name, tag), sequence = item
        if (name, tag, sequence) not in self._tags:
            movement = tags.read_movement(self.workspace.remote, name, tag, sequence)
            self._tags[name, tag, sequence] = movement.version

    def _tagged(self, found: Census) -> dict[Version, str]:
        pointed = {}
        for (name, tag), sequence in found.tags.items():
            if version := self._tags[name, tag, sequence]:
                pointed[name, version] = f"{name}@{tag}"
        return pointed

    def _read_holder(self, holder: Holder) -> list[Named]:
        store = self.workspace.remote
        try:
            record = versions.read_at(store, holder.key, holder.name, holder.version)
        except ObjectNotFound:  # removed since it was listed, by `rm`, which leaves a copy
            grave = layout.removed_key(holder.name, holder.version)
            record = versions.read_at(store, grave, holder.name, holder.version)
            holder = holder._replace(live=False)
        held = self._holdings(store, holder, record)
        with self._guard:
            self._read.add(holder.key)
            (self.live if holder.live else self.removed).add((record.name, record.version))
            if held is not None:
                self._hold(record, held)
        parent = [(record.name, record.parent)] if record.parent and holder.live else []
        return [(each, f"{record.name}@{record.version}, its parent") for each in parent]

    def _holdings(
        self, store: ObjectStore, holder: Holder, record: VersionRecord
    ) -> Holdings | None:
        """None for a removed version whose content went with an earlier, less patient `gc`."""
        try:
            return placements.read_holdings(store, record.placement)
        except ObjectNotFound:
            if holder.live:
                raise
            return None

    def _hold(self, record: VersionRecord, held: Holdings) -> None:
        below = self.workspace.remote_url + "/"
        packs = {pack.key.removeprefix(below) for pack in held.packs}
        self.keys.add(record.placement.key)
        self.keys |= packs
        folder = layout.plain_folder(record.name, Digest.parse(record.tree))
        if not packs or any(key.startswith(folder) for key in packs):
            self.folders.add(folder)

    def _account_for(self, found: Census, named: list[Named]) -> None:
        """RetentionRefused for a version that is named, and neither listed nor removed."""
        gaps: dict[str, None] = {}
        for (name, label), who in named:
            if (name, label) in found.versions or (name, label) in found.removed:
                continue
            if reason := self._gap(name, label):
                gaps[f"{name}@{label} ({who}) {reason}"] = None
        if gaps and not self.trusting:
            hint = "where a record was deleted by hand, --force goes on without it"
            raise RetentionRefused(reason="; ".join(gaps), hint=hint)

    def _gap(self, name: str, label: str) -> str:
        """Why a version that is named was not listed; nothing when it came or went just now."""
        store = self.workspace.remote
        try:
            made = store.head(layout.version_key(name, label)).modified
        except ObjectNotFound:
            try:
                store.head(layout.removed_key(name, label))
            except ObjectNotFound:
                return "is gone"
            return ""
        return "" if made > self.began - CLOCKS_APART else "is there, but was not listed"

    def _each(self, items: Iterable[T], work: Callable[[T], None]) -> None:
        for_each(items, work, self.workspace.config.transfer.connections)
