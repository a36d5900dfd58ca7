"""Where the units of a base lie: one sorted table, looked into a block at a time.

The base is an address space: its files, or its frames, one after the other. A unit is a
start and a length in it. Memory is 33 bytes a unit and a little more while sorting: 100
million records take 3.4 GB (measured with 10 million). A base of more than WINDOW units is
looked at through a window that moves along with the matches: what kept its order is found,
what moved farther is stored again.

numpy is imported when a table is made, and only then.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from stager.model.records import Units

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WINDOW = 100_000_000


class Chunk(NamedTuple):
    """Units that follow each other without a gap from address `start`."""

    start: int
    units: Units


class Span(NamedTuple):
    """A match: `length` bytes at `position` of what was looked up lie at `address`."""

    position: int
    address: int
    length: int


class _Held(NamedTuple):
    """Columns of the units in the window, in the order of their addresses."""

    hashes: array[int]
    lengths: array[int]
    starts: array[int]

    def drop(self, count: int) -> None:
        """Forgets the first units."""
        for column in self:
            del column[:count]


class RecordTable:
    """Finds units of a base; `chunks` come in the order of their addresses."""

    def __init__(self, chunks: Iterator[Chunk], window: int = WINDOW) -> None:
        import numpy

        self._np: Any = numpy
        self._chunks = chunks
        self._window = window
        self._held = _Held(array("Q"), array("I"), array("q"))
        self._complete = False
        self._next = -1  # the unit that would continue the last match
        self._hashes: Any
        self._lengths: Any
        self._starts: Any
        self._fill()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to find."""
        return not len(self._hashes)

    def reach(self, address: int) -> None:
        """Moves the window, where there is one, so that it holds this address."""
        while not self._complete and self._end() <= address:
            self._slide()

    def match(self, units: Units) -> Iterator[Span]:
        """Runs of units that the base holds, in order; positions count from the first unit."""
        np = self._np
        if self.is_empty or not units.hashes:
            return
        wanted = np.frombuffer(units.hashes, dtype=np.uint64)
        lengths = np.frombuffer(units.lengths, dtype=np.uint32)
        found = self._look_up(wanted, lengths)
        ends = np.cumsum(lengths, dtype=np.int64)
        yield from self._runs(found, ends - lengths, ends)
        self._next = int(found[-1]) + 1 if found[-1] >= 0 else -1
        best = int(found.max())
        if not self._complete and best > 3 * len(self._hashes) // 4:
            self._slide()

    def _look_up(self, wanted: NDArray[np.uint64], lengths: NDArray[np.uint32]) -> NDArray[Any]:
        """Number of the base's unit for each wanted one, -1 where there is none."""
        np = self._np
        # In ascending order the search stays in the caches: half the time, and less for a
        # large table.
        order = np.argsort(wanted)
        at = np.empty(len(wanted), dtype=np.int64)
        at[order] = np.searchsorted(self._sorted, wanted[order])
        np.minimum(at, len(self._sorted) - 1, out=at)
        found = self._order[at].astype(np.int64)
        found[(self._sorted[at] != wanted) | (self._lengths[found] != lengths)] = -1
        if self._repeats:
            self._continue_runs(found, wanted)
        return found  # type: ignore[no-any-return]

    def _continue_runs(self, found: NDArray[Any], wanted: NDArray[np.uint64]) -> None:
        """Of equal units takes the one that follows the match before, if it is among them."""
        np, hashes = self._np, self._hashes
        before = np.concatenate(([self._next - 1], found[:-1]))
        breaks = np.flatnonzero((found >= 0) & (found != before + 1))
        done = 0
        for at in breaks.tolist():
            if at < done:
                continue
            follows = self._next if at == 0 else int(found[at - 1]) + 1
            done = at
            while (
                0 < follows < len(hashes)
                and done < len(found)
                and found[done] >= 0
                and found[done] != follows
                and hashes[follows] == wanted[done]
                and self._lengths[follows] == self._lengths[found[done]]
            ):
                found[done] = follows
                follows += 1
                done += 1

    def _runs(
        self, found: NDArray[Any], begins: NDArray[Any], ends: NDArray[Any]
    ) -> Iterator[Span]:
        np = self._np
        hits = np.flatnonzero(found >= 0)
        if not len(hits):
            return
        units = found[hits]
        starts = self._starts[units]
        joins = (
            (np.diff(hits) == 1)
            & (np.diff(units) == 1)
            & (starts[1:] == starts[:-1] + self._lengths[units[:-1]])
        )
        heads = np.concatenate(([0], np.flatnonzero(~joins) + 1))
        tails = np.concatenate((heads[1:], [len(hits)])) - 1
        firsts = begins[hits[heads]]
        sizes = ends[hits[tails]] - firsts
        columns = (firsts.tolist(), starts[heads].tolist(), sizes.tolist())
        yield from map(Span._make, zip(*columns, strict=True))

    def _end(self) -> int:
        held = self._held
        return held.starts[-1] + held.lengths[-1] if held.starts else 0

    def _slide(self) -> None:
        """Forgets the first half of the window and reads on."""
        half = max(1, len(self._hashes) // 2)
        del self._hashes, self._lengths, self._starts  # an array that is viewed cannot shrink
        self._held.drop(half)
        self._next = -1
        self._fill()

    def _fill(self) -> None:
        np, held = self._np, self._held
        while len(held.hashes) < self._window:
            chunk = next(self._chunks, None)
            if chunk is None:
                self._complete = True
                break
            lengths = np.frombuffer(chunk.units.lengths, dtype=np.uint32)
            starts = np.cumsum(lengths, dtype=np.int64) - lengths + chunk.start
            held.hashes.extend(chunk.units.hashes)
            held.lengths.extend(chunk.units.lengths)
            held.starts.frombytes(starts.tobytes())
        self._hashes = np.frombuffer(held.hashes, dtype=np.uint64)
        self._lengths = np.frombuffer(held.lengths, dtype=np.uint32)
        self._starts = np.frombuffer(held.starts, dtype=np.int64)
        self._sort()

    def _sort(self) -> None:
        np = self._np
        order = np.argsort(self._hashes, kind="stable")
        self._order = order.astype(np.uint32)
        del order
        self._sorted = self._hashes[self._order]
        self._repeats = bool((self._sorted[1:] == self._sorted[:-1]).any())
