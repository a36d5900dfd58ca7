"""prune: the cache under its budget and above its floor, without what killed runs left.

And `status`, which shows what prune would look at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stager.cache import eviction, leases, leftovers, reservations, staged
from stager.cache.filesystem import file_system_of
from stager.cache.locks import exclusive
from stager.cache.room import Choice, Removal, Room
from stager.cache.usage import measure
from stager.ops import cache
from stager.ops.cache import CacheEntry
from stager.ops.reserve import copies
from stager.workspace import Workspace


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What was removed, or with `dry_run` would be; `missing` bytes that are still too many.

    `kept` says why each version that was asked for its place stays; `forgotten` are
    destinations that are gone.
    """

    removed: tuple[Removal, ...]
    kept: Mapping[str, str]
    forgotten: tuple[str, ...]
    bytes_removed: int
    missing: int
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class CacheStatus:
    """Bytes the cache takes, by whom, and the limits. `budget` 0 is none.

    `bytes_leftovers` is what a prune would clear in any case; `promised` what running pulls
    have not written yet.
    """

    path: str
    file_system: str
    mounted_at: str
    bytes_used: int
    bytes_versions: int
    bytes_staging: int
    bytes_leftovers: int
    budget: int
    free: int
    free_floor: int
    promised: int
    leases: int
    versions: tuple[CacheEntry, ...]


def prune(workspace: Workspace, dry_run: bool = False) -> PruneReport:
    """Clears leftovers, then evicts the longest unused versions while a limit is broken."""
    folders, listener = workspace.folders, workspace.listener
    folders.reservations.mkdir(parents=True, exist_ok=True)
    room = Room(workspace.config.cache, copies(workspace), listener)
    removed: list[Removal] = []
    with exclusive(folders.lock("space"), listener):
        if not dry_run:
            leases.sweep(folders)
            eviction.settle_all(folders)
        choice = room.choose(tidy=True)
        missing = _missing(choice)
        if dry_run:
            removed += choice.removals()
        while choice.things and not dry_run:
            removed += room.remove(choice)
            choice = room.choose()
            missing = _missing(choice)
    return PruneReport(
        removed=tuple(removed),
        kept=room.kept,
        forgotten=tuple(leftovers.forget_placed(folders, dry_run)),
        bytes_removed=sum(one.bytes for one in removed),
        missing=missing,
        dry_run=dry_run,
    )


def status(workspace: Workspace) -> CacheStatus:
    """What is in the cache, and what bounds it; nothing is changed."""
    folders, options = workspace.folders, workspace.config.cache
    usage = measure(folders)
    known = {found.folder for found in staged.everything(folders)}
    left = {one.path for one in leftovers.find(folders, usage, known)}
    entries = cache.ls(workspace, usage)
    where = file_system_of(options.path)
    in_staging = {path for path in usage.newest if path.parent == folders.root / "staging"}
    return CacheStatus(
        path=str(options.path),
        file_system=where.kind,
        mounted_at=where.mounted_at,
        bytes_used=usage.total,
        bytes_versions=usage.held_by(known),
        bytes_staging=usage.freed(in_staging - left)[0],
        bytes_leftovers=usage.freed(left)[0],
        budget=options.budget,
        free=where.free,
        free_floor=options.free_floor,
        promised=reservations.total(reservations.living(folders), usage).disk,
        leases=len({holder for entry in entries for holder in entry.leased}),
        versions=tuple(entries),
    )


def _missing(choice: Choice) -> int:
    """Bytes that are too many even when everything chosen is gone."""
    freed = choice.freed()
    return max(0, choice.shortage.cache - freed[0], choice.shortage.disk - freed[1])
