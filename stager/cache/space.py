"""Disk space: checked, made and promised before the first byte.

The check, evictions and the promise happen under one lock, so what two pulls at once are
promised never exceeds the budget or touches the floor. A pull that cannot have room is
refused with both numbers, and nothing was removed for it.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stager.cache import eviction, reservations
from stager.cache.filesystem import free_bytes
from stager.cache.folders import Folders
from stager.cache.locks import exclusive
from stager.cache.options import CacheOptions
from stager.cache.room import Choice, Judge, Room
from stager.errors import DiskFull
from stager.events import Listener
from stager.model.sizes import size_text

_HINT = "`stager cache` shows what is staged and who needs it, `stager cache rm` removes it"
_SHOWN = 8  # versions in a refusal


class Need(NamedTuple):
    """Bytes on disk that a pull will take, rounded up to blocks.

    `disk` is what it will write, `counted` what the budget sees of it (more than that where
    files are reflinked), `alone` what the whole version takes without any other.
    """

    disk: int
    counted: int
    alone: int


@contextlib.contextmanager
def reserved(
    options: CacheOptions, need: Need, staging: Path, judge: Judge, listener: Listener
) -> Iterator[None]:
    """Holds the bytes for a pull into `staging`; DiskFull with both numbers when it cannot.

    Versions that `judge` lets go are evicted for it. A disk that is full all the same,
    somebody else may have filled it, is DiskFull too.
    """
    folders = Folders(options.path)
    folders.reservations.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as held:
        with exclusive(folders.lock("space"), listener):
            _have_room(options, need, judge, listener)
            held.enter_context(reservations.promised(folders, need.disk, need.counted, staging))
        try:
            yield
        except OSError as problem:
            if problem.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            needed, free = size_text(need.disk), size_text(free_bytes(options.path))
            raise DiskFull(path=str(options.path), needed=needed, free=free) from problem


def _have_room(options: CacheOptions, need: Need, judge: Judge, listener: Listener) -> None:
    if options.budget and need.alone > options.budget:
        numbers = {"needed": size_text(need.alone), "free": size_text(options.budget)}
        detail = ": the whole budget is less than the version alone"
        hint = "a higher budget (stager.toml, STAGER_BUDGET) could hold it"
        raise DiskFull(path=str(options.path), **numbers, detail=detail, hint=hint)
    folders = Folders(options.path)
    promised = reservations.total(reservations.living(folders, sweep=True)).disk
    usable = free_bytes(options.path) - options.free_floor - promised
    if not options.budget and need.disk <= usable:
        return  # nothing to walk for
    eviction.settle_all(folders)
    room = Room(options, judge, listener, need.disk, need.counted)
    while not (choice := room.choose()).shortage.is_covered((0, 0)):
        if not choice.enough:
            raise _refusal(room, choice)
        room.remove(choice)


def _refusal(room: Room, choice: Choice) -> DiskFull:
    """Both numbers of the limit that is missed by more, and why everything stays."""
    options = room.options
    promised = reservations.total(reservations.living(room.folders), choice.usage)
    freed = choice.freed()
    if choice.shortage.cache - freed[0] > choice.shortage.disk - freed[1]:
        needed, others = room.counted, promised.counted
        free = needed - choice.shortage.cache + freed[0]
        detail = f" of a budget of {size_text(options.budget)}"
    else:
        needed, others = room.disk, promised.disk
        free = needed - choice.shortage.disk + freed[1]
        detail = f" after a floor of {size_text(options.free_floor)}"
    if others:
        detail += f" and {size_text(others)} promised to other pulls"
    if choice.things:
        detail += ", even without all that may be evicted"
    kept = [f"\n  {name} stays: {reason}" for name, reason in sorted(room.kept.items())]
    if len(kept) > _SHOWN:
        kept[_SHOWN:] = [f"\n  and {len(kept) - _SHOWN} more"]
    return DiskFull(
        path=str(options.path),
        needed=size_text(needed),
        free=size_text(max(0, free)),
        detail=detail + "".join(kept),
        hint=_HINT,
    )
