"""Which records of two lists are the same, which are gone, new, or in another order.

Lists are multisets with an order: the k-th of several equal records before is paired with
the k-th after. What has no partner is removed or added. Of the pairs, a longest run that
ascends on both sides has kept its order; the others are moved, as few as can be.

Work: one sort of both lists, and the longest ascending run (patience sorting: Schensted,
Canadian Journal of Mathematics 13, 1961) over those pairs alone that some other pair has
overtaken. Memory: about 60 bytes a record of both lists while sorting, beside the lists.

numpy is imported when lists are matched, and only then.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]
    Indexes = NDArray[np.int64]


class Pairs(NamedTuple):
    """Indexes of equal records, before and after; ascending in `before`."""

    before: Indexes
    after: Indexes

    def chosen(self, which: Any) -> Pairs:
        """The pairs that a mask or a list of positions names."""
        return Pairs(self.before[which], self.after[which])


class Matching(NamedTuple):
    """Every record of both lists, once: indexes from 0, ascending."""

    removed: Indexes  # before
    added: Indexes  # after
    kept: Pairs  # ascending on both sides
    moved: Pairs


def match(before: Hashes, after: Hashes) -> Matching:
    """Matches two lists of 128-bit hashes, given as two columns of 64 bits each."""
    import numpy as np

    pairs = _pairs(before, after)
    stays = _keeps_order(pairs.after)
    return Matching(
        removed=_missing(np, len(before), pairs.before),
        added=_missing(np, len(after), pairs.after),
        kept=pairs.chosen(stays),
        moved=pairs.chosen(~stays),
    )


def _missing(np: Any, count: int, present: Indexes) -> Indexes:
    absent = np.ones(count, dtype=bool)
    absent[present] = False
    return np.flatnonzero(absent)  # type: ignore[no-any-return]


def _pairs(before: Hashes, after: Hashes) -> Pairs:
    """The k-th of equal records with the k-th: both stand in one sort, those before first."""
    import numpy as np

    hashes = np.concatenate((before, after))
    order, heads = _grouped(hashes)
    del hashes
    starts = np.flatnonzero(heads)
    earlier = order < len(before)
    counts = np.add.reduceat(earlier, starts, dtype=np.int64) if len(starts) else starts
    sizes = np.diff(starts, append=len(order))
    partners = np.minimum(counts, sizes - counts)
    rank = np.arange(len(order)) - np.repeat(starts, sizes)  # within its group
    first = earlier & (rank < np.repeat(partners, sizes))
    rank -= np.repeat(counts, sizes)
    second = ~earlier & (rank < np.repeat(partners, sizes))
    one, other = order[first], order[second] - len(before)
    by_place = np.argsort(one)
    return Pairs(one[by_place], other[by_place])


def _grouped(hashes: Hashes) -> tuple[Indexes, NDArray[np.bool_]]:
    """An order in which equal hashes stand together, earlier ones first; where groups begin.

    Sorts by one half of the hash. The other half decides only where the first one repeats
    without being the same hash, which takes somebody who makes it so.
    """
    import numpy as np

    order = np.argsort(hashes[:, 0], kind="stable")
    heads = np.ones(len(order), dtype=bool)
    np.not_equal(hashes[order[1:], 0], hashes[order[:-1], 0], out=heads[1:])
    differs = hashes[order[1:], 1] != hashes[order[:-1], 1]
    if (differs & ~heads[1:]).any():
        order = np.lexsort((hashes[:, 1], hashes[:, 0]))
        heads[1:] = (hashes[order[1:]] != hashes[order[:-1]]).any(axis=1)
    return order, heads


def _keeps_order(places: Indexes) -> NDArray[np.bool_]:
    """Which members of a longest ascending run: True for each; `places` are distinct.

    A place that is above all before it and below all after it is in every longest run.
    """
    import numpy as np

    stays = np.ones(len(places), dtype=bool)
    if len(places) < 2 or (places[1:] > places[:-1]).all():
        return stays
    np.less_equal(np.maximum.accumulate(places), places, out=stays)
    stays &= np.minimum.accumulate(places[::-1])[::-1] == places
    rest = np.flatnonzero(~stays)
    stays[rest[ascending_run(array("q", places[rest].tobytes()))]] = True
    return stays


def ascending_run(values: array[int]) -> array[int]:
    """Positions, ascending, of a longest ascending run of distinct values."""
    tops: array[int] = array("q")  # of the piles: the lowest value that ends a run of n + 1
    piles: array[int] = array("q")
    last = -1
    for value in values:
        if value > last:
            pile = len(tops)
            tops.append(value)
            last = value
        else:
            pile = bisect_left(tops, value)
            tops[pile] = value
            last = tops[-1]
        piles.append(pile)
    run: array[int] = array("q")
    wanted = len(tops) - 1
    for at in range(len(piles) - 1, -1, -1):
        if piles[at] == wanted:
            run.append(at)
            wanted -= 1
    run.reverse()
    return run
