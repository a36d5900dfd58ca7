"""packs/assembler.py: frames into packs, and frames found in them again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stager.model.digest import digest_of
from stager.model.placement import RAW, Frame
from stager.packs import codec
from stager.packs.assembler import PACK_BYTES, assemble


@given(st.lists(st.binary(min_size=1, max_size=400), max_size=20))
def test_every_frame_is_found_in_its_pack(raws: list[bytes]) -> None:
    packs = list(assemble(codec.encode(raw) for raw in raws))
    assert len(packs) == bool(raws)
    found = []
    for pack in packs:
        assert pack.digest == digest_of(pack.data)
        position = 0
        for stored in pack.frames:
            assert stored.offset == position
            position += stored.stored
            span = memoryview(pack.data)[stored.offset : position]
            frame = Frame(0, *stored[:-1])
            found.append(bytes(codec.decode(span, frame, "key")))
        assert position == len(pack.data)
    assert found == raws


def test_a_pack_is_closed_when_it_is_full_and_the_first_ones_sooner() -> None:
    frame = codec.Encoded(bytes(5 * 1024 * 1024), RAW, 5 * 1024 * 1024, bytes(32))
    sizes = [len(pack.data) // 1024**2 for pack in assemble([frame] * 22)]
    assert sizes == [10, 20, 25, 25, 25, 5]  # 8, 16, then 24 MiB, each by whole frames
    assert PACK_BYTES == 24 * 1024**2


def test_the_units_of_a_frame_stay_with_it() -> None:
    raws = [b'{"n": %d}\n' % at * 50 for at in range(3)]
    frames = [codec.encode(raw) for raw in raws]
    frames[1] = frames[1]._replace(units=codec.record_units(raws[1], [len(raws[1])]))
    (pack,) = assemble(frames)
    assert [stored.units for stored in pack.frames] == [None, frames[1].units, None]


def test_equal_frames_make_equal_packs() -> None:
    frames = [codec.encode(b"x" * 100), codec.encode(b"y" * 100)]
    (one,), (other,) = assemble(frames), assemble(frames)
    assert one.digest == other.digest
    assert [stored.offset for stored in one.frames] == [0, len(frames[0].stored)]
