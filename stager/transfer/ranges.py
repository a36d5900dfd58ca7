"""Which byte ranges to ask for: neighbouring frames in one request.

A gap between two wanted frames is read through when it is smaller than what a request
costs; a range grows to RANGE_BYTES and no further, so that ranges spread over connections
and memory stays bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from stager.model.placement import Placement

RANGE_BYTES = 8 * 1024 * 1024
GAP_BYTES = 128 * 1024


class Range(NamedTuple):
    """Bytes [start, end) of a pack and the frames wanted from them, in order of offset."""

    pack: int
    start: int
    end: int
    frames: tuple[int, ...]


def ranges(placement: Placement, wanted: Iterable[int], connections: int) -> list[Range]:
    """Ranges that cover the wanted frames, each frame once."""
    ordered = sorted(set(wanted), key=lambda at: placement.frames[at][:2])
    total = sum(placement.frames[at].stored for at in ordered)
    limit = max(1024 * 1024, min(RANGE_BYTES, -(-total // connections)))
    return list(_merged(placement, ordered, limit))


def _merged(placement: Placement, ordered: list[int], limit: int) -> Iterator[Range]:
    members: list[int] = []
    pack, start, end = -1, 0, 0
    for at in ordered:
        frame = placement.frames[at]
        after = frame.offset + frame.stored
        joins = pack == frame.pack and frame.offset <= end + GAP_BYTES and after - start <= limit
        if not joins:
            if members:
                yield Range(pack, start, end, tuple(members))
            pack, start, end, members = frame.pack, frame.offset, after, []
        members.append(at)
        end = max(end, after)
    if members:
        yield Range(pack, start, end, tuple(members))
