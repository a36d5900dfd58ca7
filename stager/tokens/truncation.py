"""Rows that are too long, and rows that teach nothing.

    right   keep the beginning        left    keep the end
    drop    leave the row out         raise   an error that names every such row

After that, a row without one label is left out and counted: its loss would be 0/0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stager.tokens.engines import Encoded, Ids, Starts
from stager.tokens.marking import IGNORED

TRUNCATIONS = ("right", "left", "drop", "raise")


class Kept(NamedTuple):
    """What is left: token ids and labels of the rows kept, and which rows those are.

    `too_long` and `unlabelled` are the rows that were over the limit, and those left out
    for having no label.
    """

    encoded: Encoded
    labels: Ids
    rows: Starts
    too_long: Starts
    unlabelled: Starts


def truncated(encoded: Encoded, labels: Ids, limit: int | None, how: str = "right") -> Kept:
    """Applies the limit, in tokens, and leaves out rows without labels.

    With "raise" nothing is cut: the caller reports `too_long`.
    """
    begins, ends = encoded.starts[:-1].copy(), encoded.starts[1:].copy()
    over = np.flatnonzero(ends - begins > limit) if limit is not None else np.zeros(0, np.int64)
    kept = np.ones(len(begins), bool)
    if how == "drop":
        kept[over] = False
    elif limit is not None and how == "right":
        ends[over] = begins[over] + limit
    elif limit is not None and how == "left":
        begins[over] = ends[over] - limit
    learned = np.concatenate([[0], np.cumsum(labels != IGNORED)])
    silent = kept & (learned[ends] == learned[begins])
    kept &= ~silent
    rows = np.flatnonzero(kept)
    if not len(over) and len(rows) == len(begins):
        return Kept(encoded, labels, rows, over, over)
    return Kept(*_taken(encoded, labels, begins[rows], ends[rows]), rows, over,
                np.flatnonzero(silent))  # fmt: skip


def _taken(encoded: Encoded, labels: Ids, begins: Starts, ends: Starts) -> tuple[Encoded, Ids]:
    sizes = ends - begins
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    places = np.arange(int(starts[-1])) + np.repeat(begins - starts[:-1], sizes)
    return Encoded(encoded.ids[places], starts), labels[places]
