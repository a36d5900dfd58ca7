"""Making room: what must go, what may go, in which order.

Leftovers first, then the versions that were not asked for the longest. First the choice,
then the deed: when all that may go is not enough, nothing goes. `Judge` is the question
that this package cannot answer: whether a version may go as far as its remote is concerned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from stager.cache import eviction, leftovers, reservations, staged
from stager.cache.filesystem import free_bytes
from stager.cache.folders import Folders
from stager.cache.in_use import in_use
from stager.cache.leftovers import Leftover
from stager.cache.options import CacheOptions
from stager.cache.staged import Staged
from stager.cache.usage import Usage, measure
from stager.events import Listener, Noted
from stager.model.sizes import size_text

SETTLE_SECONDS = 1.0  # some file systems give blocks back a moment after the unlink

Judge = Callable[[Staged], str]  # why the version must stay; empty when it may go


class Shortage(NamedTuple):
    """Bytes that must leave the cache, and bytes that the disk must gain; 0 or less: none."""

    cache: int
    disk: int

    def is_covered(self, freed: tuple[int, int]) -> bool:
        """Whether removing what frees these bytes is enough."""
        return freed[0] >= self.cache and freed[1] >= self.disk


class Removal(NamedTuple):
    """Something that goes or went: a version's reference or a path, and the bytes it frees."""

    name: str
    kind: str  # version, or the kind of leftover
    bytes: int


@dataclass(slots=True)
class Choice:
    """What goes, whether that is enough, and why everything else stays."""

    shortage: Shortage
    usage: Usage
    things: list[Staged | Leftover] = field(default_factory=list)
    enough: bool = True

    def freed(self) -> tuple[int, int]:
        """(bytes less in the cache, bytes more on the disk)"""
        return self.usage.freed(_place(thing) for thing in self.things)

    def removals(self) -> list[Removal]:
        """Each with what it frees after those before it."""
        found: list[Removal] = []
        gone: list[Path] = []
        before = 0
        for thing in self.things:
            gone.append(_place(thing))
            after = self.usage.freed(gone)[0]
            found.append(Removal(*_named(thing), after - before))
            before = after
        return found


@dataclass(slots=True)
class Room:
    """One attempt to have room for `disk` and `counted` bytes more; 0 only tidies up.

    `kept` grows while it is made: reference -> why the version stays.
    """

    options: CacheOptions
    judge: Judge
    listener: Listener
    disk: int = 0
    counted: int = 0
    kept: dict[str, str] = field(default_factory=dict)

    @property
    def folders(self) -> Folders:
        """The cache."""
        return Folders(self.options.path)

    def choose(self, tidy: bool = False) -> Choice:
        """Measures, and chooses what goes; with `tidy` leftovers go whether needed or not."""
        usage = measure(self.folders)
        choice = Choice(self._shortage(usage), usage)
        users = in_use(self.folders)
        versions = list(staged.everything(self.folders))
        short = not choice.shortage.is_covered((0, 0))
        if tidy or short:
            choice.things += self._leftovers(usage, versions, users)
        if short:
            choice.enough = _fill(choice, self._candidates(versions, users))
        return choice

    def remove(self, choice: Choice) -> list[Removal]:
        """Removes what was chosen; what turned out to be needed is left and remembered."""
        removed: list[Removal] = []
        free = free_bytes(self.options.path)
        for thing, removal in zip(choice.things, choice.removals(), strict=True):
            if self._remove(thing):
                removed.append(removal)
                self.listener(Noted(f"removed {removal.name}, {size_text(removal.bytes)}"))
        if choice.shortage.disk > 0 and removed:
            _settle(self.options.path, free + choice.freed()[1])
        return removed

    def _shortage(self, usage: Usage) -> Shortage:
        options = self.options
        promised = reservations.total(reservations.living(self.folders), usage)
        over = usage.total + promised.counted + self.counted - options.budget
        usable = free_bytes(options.path) - options.free_floor - promised.disk
        return Shortage(over if options.budget else 0, self.disk - usable)

    def _leftovers(
        self, usage: Usage, versions: list[Staged], users: dict[Path, int]
    ) -> list[Leftover]:
        known = {found.folder for found in versions}
        found = leftovers.find(self.folders, usage, known)
        return [one for one in found if one.path not in users and str(one.path) not in self.kept]

    def _candidates(self, versions: list[Staged], users: dict[Path, int]) -> Iterator[Staged]:
        """Versions that may go, the longest unused first."""
        for found in sorted(versions, key=_last_used):
            if found.reference in self.kept:
                continue
            reason = eviction.reason_to_stay(self.folders, found, users) or self.judge(found)
            if reason:
                self.kept[found.reference] = reason
            else:
                yield found

    def _remove(self, thing: Staged | Leftover) -> bool:
        if isinstance(thing, Leftover):
            if leftovers.clear(self.folders, thing):
                return True
            self.kept[str(thing.path)] = "held by a running pull"
            return False
        reason = eviction.evict(self.folders, thing)
        if reason:
            self.kept[thing.reference] = reason
        return not reason


def _fill(choice: Choice, candidates: Iterable[Staged]) -> bool:
    """Adds versions until it is enough, then takes out again what was not needed."""
    if choice.shortage.is_covered(choice.freed()):
        return True
    for found in candidates:
        choice.things.append(found)
        if choice.shortage.is_covered(choice.freed()):
            break
    else:
        return False
    for thing in [one for one in reversed(choice.things) if isinstance(one, Staged)]:
        rest = [other for other in choice.things if other is not thing]
        if choice.shortage.is_covered(choice.usage.freed(map(_place, rest))):
            choice.things = rest
    return True


def _named(thing: Staged | Leftover) -> tuple[str, str]:
    if isinstance(thing, Staged):
        return thing.reference, "version"
    return str(thing.path), thing.kind


def _place(thing: Staged | Leftover) -> Path:
    return thing.folder if isinstance(thing, Staged) else thing.path


def _last_used(found: Staged) -> float:
    try:
        return found.last_used()
    except FileNotFoundError:  # somebody removes it at this moment
        return 0.0


def _settle(path: Path, expected: int) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS
    while free_bytes(path) < expected and time.monotonic() < deadline:
        time.sleep(0.02)
