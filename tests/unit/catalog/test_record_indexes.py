"""catalog/record_indexes.py: an index as it is stored, and bytes that are none."""

from __future__ import annotations

import json
import struct
from array import array

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from stager.catalog import placements, record_indexes
from stager.errors import ManifestInvalid, ObjectNotFound
from stager.model import record_index
from stager.model.digest import digest_of
from stager.model.layout import pack_key, records_key
from stager.model.records import Units, units
from stager.storage.obstore_store import open_memory
from tests.unit.examples import placed
from tests.unit.storage.scripted import Scripted

PACK = pack_key(digest_of(b"a pack"))
FRAMES = [
    (0, units(b"".join(b'{"n": %d}\n' % at for at in range(60)))),
    (70, units(b"x" * 700 + b"\n" + b"y" * 900)),
]


def read(stored: bytes) -> list[tuple[int, Units]]:
    """What a store that holds these bytes gives for the index of PACK."""
    store = open_memory("memory://indexes")
    store.put(records_key(PACK), stored)
    return record_indexes.read(store, PACK)


def test_there_and_back_in_one_request_each() -> None:
    store = Scripted(open_memory("memory://indexes"))
    record_indexes.write(store, PACK, record_indexes.packed(FRAMES))
    assert record_indexes.read(store, PACK) == FRAMES
    key = "records/" + PACK.removeprefix("packs/")
    assert store.asked == [("put", key), ("get", key)]


def test_equal_frames_make_equal_bytes() -> None:
    assert record_indexes.packed(FRAMES) == record_indexes.packed(list(FRAMES))


def test_of_nothing_and_of_too_much_there_is_no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    assert record_indexes.packed([]) == b""
    frame = (0, Units(array("Q", [1]), array("I", [10])))
    assert read(record_indexes.packed([frame])) == [frame]
    monkeypatch.setattr(record_indexes, "MAX_RAW", 100)
    assert record_indexes.packed([frame]) == b""


def test_where_none_was_written_there_is_none() -> None:
    with pytest.raises(ObjectNotFound):
        record_indexes.read(open_memory("memory://indexes"), PACK)


@pytest.mark.parametrize("bit", range(8))
def test_T9_a_flipped_bit_anywhere_never_passes(bit: int) -> None:
    stored = record_indexes.packed(FRAMES)
    for at in range(len(stored)):
        damaged = bytearray(stored)
        damaged[at] ^= 1 << bit
        try:
            assert read(bytes(damaged)) == FRAMES, at  # a bit that means nothing
        except ManifestInvalid as problem:
            assert records_key(PACK) in str(problem)


def test_T63_a_truncated_index_is_refused_wherever_it_ends() -> None:
    stored = record_indexes.packed(FRAMES)
    for end in range(len(stored)):
        with pytest.raises(ManifestInvalid):
            read(stored[:end])


def test_bytes_after_the_end_are_refused() -> None:
    with pytest.raises(ManifestInvalid):
        read(record_indexes.packed(FRAMES) + b"x")
    with pytest.raises(ManifestInvalid):
        read(record_indexes.packed(FRAMES) * 2)


@given(st.binary(max_size=100))
def test_random_bytes_are_refused_in_one_way(data: bytes) -> None:
    with pytest.raises(ManifestInvalid):
        read(data)


def test_another_kind_of_object_under_the_key_is_refused() -> None:
    stored, _ = placements.pack(placed({"a": b"x" * 100})[0])
    with pytest.raises(ManifestInvalid, match="placement"):
        read(stored)
    with pytest.raises(ManifestInvalid):
        read(zstandard.ZstdCompressor().compress(b'{"n": 1}\n'))


def test_a_bomb_is_refused_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_indexes, "MAX_RAW", 1_000_000)
    with pytest.raises(ManifestInvalid, match="1000001 bytes"):
        read(zstandard.ZstdCompressor().compress(bytes(1_000_001)))
    promise = struct.pack("<IBQ", 0xFD2FB528, 0b1110_0000, 2**50) + b"\x01\x00\x00"
    with pytest.raises(ManifestInvalid, match=f"{2**50} bytes"):
        read(promise)


def test_a_bomb_that_hides_its_size_is_refused() -> None:
    bomb = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(2**24))
    with pytest.raises(ManifestInvalid):
        read(bomb)


def test_numbers_that_promise_more_than_there_is_are_refused() -> None:
    raw = record_index.encode([(0, Units(array("Q", [1]), array("I", [1])))])
    header, _, body = raw.partition(b"\n")
    document = json.loads(header)
    document["columns"][2][2:] = [2**61, 2**64]
    lying = json.dumps(document).encode() + b"\n" + body
    with pytest.raises(ManifestInvalid):
        read(zstandard.ZstdCompressor().compress(lying))
