"""Which rows share a sequence: one plan for the whole dataset, made from lengths alone.

    bfd       best-fit decreasing: long rows first, each where it leaves the least room;
              no row is cut (Johnson 1973: at most 11/9 of the fewest sequences, and 6/9)
    wrapped   the rows as one stream, cut at every N tokens; rows cross sequences
    none      a row a sequence

The plan depends on nothing but lengths and N: not on workers, batches or machines.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

PACKINGS = ("bfd", "wrapped", "none")

Numbers = npt.NDArray[np.int64]


class Plan(NamedTuple):
    """Sequences of pieces: sequence s holds pieces bounds[s] to bounds[s + 1].

    Piece p is tokens start[p] to end[p] of row row[p]. `dropped` counts tokens in no sequence.
    """

    row: Numbers
    start: Numbers
    end: Numbers
    bounds: Numbers
    dropped: int = 0

    @property
    def sizes(self) -> Numbers:
        """Tokens in each sequence."""
        total = np.concatenate([[0], np.cumsum(self.end - self.start)])
        return np.diff(total[self.bounds])

    def fill(self, size: int) -> float:
        """The share of the sequences' room, `size` tokens each, that holds tokens."""
        sizes = self.sizes
        return float(sizes.sum() / (size * len(sizes))) if len(sizes) else 1.0


def plan(lengths: Numbers, size: int, packing: str) -> Plan:
    """The sequences of at most `size` tokens; empty rows are in none.

    ValueError when a row is longer than `size` and may not be cut: truncate first.
    """
    rows = np.flatnonzero(lengths)
    if packing == "wrapped":
        return _wrapped(lengths, rows, size)
    if len(rows) and packing == "bfd" and int(lengths.max()) > size:
        raise ValueError(f"a row of {int(lengths.max())} tokens does not fit {size}")
    if packing == "bfd":
        rows, bounds = _best_fit(lengths, rows, size)
    else:
        bounds = np.arange(len(rows) + 1)
    return Plan(rows, np.zeros(len(rows), np.int64), lengths[rows], bounds)


def _best_fit(lengths: Numbers, rows: Numbers, size: int) -> tuple[Numbers, Numbers]:
    """Rows in the order of their sequences, and where each sequence begins."""
    order = rows[np.argsort(-lengths[rows], kind="stable")]
    opened: list[list[int]] = []  # sequences by room left, the last opened first
    by_room: list[list[int]] = [[] for _ in range(size + 1)]
    rooms = 0  # bit r is set while some sequence has r tokens of room
    for row, length in zip(order.tolist(), lengths[order].tolist(), strict=True):
        fitting = rooms >> length
        if fitting:
            room = length + (fitting & -fitting).bit_length() - 1
            at = by_room[room].pop()
            rooms ^= (not by_room[room]) << room
            opened[at].append(row)
        else:
            room, at = size, len(opened)
            opened.append([row])
        by_room[room - length].append(at)
        rooms |= 1 << (room - length)
    bounds = np.concatenate([[0], np.cumsum([len(each) for each in opened], dtype=np.int64)])
    flat = np.fromiter((row for each in opened for row in each), np.int64, len(order))
    return flat, bounds


def _wrapped(lengths: Numbers, rows: Numbers, size: int) -> Plan:
    """Whole sequences of the stream; its last tokens, fewer than `size`, are dropped."""
    ends = np.cumsum(lengths[rows], dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    kept = total - total % size
    cuts = np.union1d(ends[ends <= kept], np.arange(size, kept + 1, size))
    begins = np.concatenate([[0], cuts[:-1]]) if len(cuts) else cuts
    at = np.searchsorted(ends, begins, "right")
    base = np.concatenate([[0], ends[:-1]])[at] if len(cuts) else begins
    bounds = np.searchsorted(cuts, np.arange(0, kept + 1, size), "right")
    return Plan(rows[at], begins - base, cuts - base, bounds, total - kept)
