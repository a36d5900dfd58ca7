"""transfer/ranges.py: every wanted frame once, no range too large."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.model.placement import RAW, Frame, Pack, Placement, PlacementBuilder
from stager.transfer.ranges import GAP_BYTES, RANGE_BYTES, ranges

MiB = 1024 * 1024


def placement_of(stored: list[list[int]]) -> Placement:
    """Packs of frames with these stored sizes, back to back."""
    builder = PlacementBuilder()
    for number, sizes in enumerate(stored):
        pack, offset = builder.pack(Pack(f"packs/{number}", sum(sizes))), 0
        for size in sizes:
            builder.frame(Frame(pack, offset, size, size, RAW, bytes(32)))
            offset += size
    return builder.build()


sizes = st.sampled_from([1, 100, GAP_BYTES, GAP_BYTES + 1, MiB, 3 * MiB, 8 * MiB])
packs = st.lists(st.lists(sizes, min_size=1, max_size=12), min_size=1, max_size=3)


@given(packs, st.data(), st.integers(1, 64))
def test_every_wanted_frame_is_covered_once_and_no_range_is_too_large(
    stored: list[list[int]], data: st.DataObject, connections: int
) -> None:
    placement = placement_of(stored)
    wanted = data.draw(st.lists(st.sampled_from(range(len(placement.frames)))))
    found = ranges(placement, wanted, connections)
    assert sorted(at for one in found for at in one.frames) == sorted(set(wanted))
    for one in found:
        spans = [placement.frames[at] for at in one.frames]
        assert {frame.pack for frame in spans} == {one.pack}
        assert one.start == spans[0].offset
        assert one.end == max(frame.offset + frame.stored for frame in spans)
        assert one.end <= placement.packs[one.pack].size
        assert [frame.offset for frame in spans] == sorted(frame.offset for frame in spans)
        assert one.end - one.start <= RANGE_BYTES
        useful = sum(frame.stored for frame in spans)
        assert one.end - one.start <= useful + GAP_BYTES * (len(spans) - 1)


@given(packs, st.integers(1, 64))
def test_no_byte_is_asked_for_twice(stored: list[list[int]], connections: int) -> None:
    placement = placement_of(stored)
    found = ranges(placement, range(len(placement.frames)), connections)
    assert sum(one.end - one.start for one in found) == placement.bytes_stored
    assert found == sorted(found)


def test_neighbours_share_a_request_and_a_small_gap_is_read_through() -> None:
    placement = placement_of([[100, GAP_BYTES, 100, GAP_BYTES + 1, 100]])
    assert [one.frames for one in ranges(placement, [0, 2, 4], 1)] == [(0, 2), (4,)]


def test_T36_the_work_is_spread_over_the_connections() -> None:
    placement = placement_of([[MiB] * 32])
    assert len(ranges(placement, range(32), 1)) == 4
    assert len(ranges(placement, range(32), 8)) == 8
    assert len(ranges(placement, range(32), 64)) == 32


@pytest.mark.parametrize("connections", [1, 8])
def test_nothing_wanted_asks_for_nothing(connections: int) -> None:
    assert ranges(placement_of([[1]]), [], connections) == []
