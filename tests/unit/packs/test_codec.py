"""packs/codec.py: one frame there and back, and frames that lie."""

from __future__ import annotations

import random
import struct
from concurrent.futures import ThreadPoolExecutor

import pytest
import zstandard
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from stager.errors import DigestMismatch
from stager.model.placement import RAW, TRUSTED, ZSTD, Frame
from stager.model.records import units
from stager.packs import codec

TEXT = b'{"instruction": "say it again", "output": "again"}\n' * 4000
NOISE = random.Random(1).randbytes(200_000)


def frame_of(encoded: codec.Encoded, offset: int = 7) -> Frame:
    """The frame as a placement would name it."""
    return Frame(0, offset, len(encoded.stored), encoded.raw, encoded.codec, encoded.digest)


def decoded(stored: bytes, frame: Frame) -> bytes:
    """The raw bytes, through the codec."""
    return bytes(codec.decode(memoryview(stored), frame, "packs/aa/bb"))


@given(st.binary(min_size=1, max_size=2000), st.integers(1, 100))
def test_there_and_back(piece: bytes, times: int) -> None:
    raw = piece * times
    encoded = codec.encode(raw)
    assert encoded.raw == len(raw)
    assert encoded.digest == blake3(raw).digest()
    assert 0 < len(encoded.stored) <= len(raw)
    assert decoded(bytes(encoded.stored), frame_of(encoded)) == raw


@pytest.mark.parametrize(("raw", "kind"), [(TEXT, ZSTD), (NOISE, RAW), (NOISE[:100], RAW)])
def test_what_does_not_shrink_is_stored_raw(raw: bytes, kind: int) -> None:
    encoded = codec.encode(raw)
    assert encoded.codec == kind
    assert kind == ZSTD or bytes(encoded.stored) == raw


def test_a_stored_frame_is_plain_zstd() -> None:
    encoded = codec.encode(TEXT)
    assert zstandard.ZstdDecompressor().decompress(bytes(encoded.stored)) == TEXT
    assert zstandard.frame_content_size(bytes(encoded.stored)) == len(TEXT)


def test_equal_bytes_make_equal_frames_on_any_thread() -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(codec.encode, [TEXT] * 8))
    assert len({bytes(one.stored) for one in found}) == 1


def test_a_known_frame_is_only_hashed() -> None:
    digest = blake3(TEXT).digest()
    assert codec.encode(TEXT, {digest}) == (b"", RAW, len(TEXT), digest, None)


@given(st.integers(0), st.integers(0, 7))
def test_T9_a_flipped_bit_is_named_with_key_offset_and_both_digests(at: int, bit: int) -> None:
    encoded = codec.encode(TEXT)
    damaged = bytearray(encoded.stored)
    damaged[at % len(damaged)] ^= 1 << bit
    try:
        assert decoded(bytes(damaged), frame_of(encoded)) == TEXT  # the bit meant nothing
    except DigestMismatch as problem:
        assert problem.fields["key"] == "packs/aa/bb"
        assert problem.fields["offset"] == 7
        assert problem.fields["expected"] == encoded.digest.hex()
        assert problem.fields["actual"]


@pytest.mark.parametrize("raw", [TEXT, NOISE])
@pytest.mark.parametrize("cut", [0, 1, 5, 20])
def test_T63_a_truncated_frame_is_a_mismatch(raw: bytes, cut: int) -> None:
    encoded = codec.encode(raw)
    with pytest.raises(DigestMismatch):
        decoded(bytes(encoded.stored)[:cut], frame_of(encoded))


def test_T10_bytes_after_a_frame_are_a_mismatch() -> None:
    encoded = codec.encode(TEXT)
    with pytest.raises(DigestMismatch):
        decoded(bytes(encoded.stored) + b"more", frame_of(encoded))
    with pytest.raises(DigestMismatch):
        decoded(bytes(encoded.stored) * 2, frame_of(encoded))


def test_a_bomb_allocates_nothing() -> None:
    """A header that promises a petabyte is refused by its number alone."""
    promise = struct.pack("<IBQ", 0xFD2FB528, 0b1110_0000, 2**50) + b"\x01\x00\x00"
    assert zstandard.frame_content_size(promise) == 2**50
    with pytest.raises(DigestMismatch, match="another size"):
        decoded(promise, Frame(0, 0, len(promise), 1000, ZSTD, bytes(32)))


def test_a_bomb_that_understates_itself_is_stopped() -> None:
    bomb = bytearray(zstandard.ZstdCompressor().compress(bytes(50_000_000)))
    size = struct.pack("<I", 50_000_000)
    assert bomb.count(size) == 1
    lying = bytes(bomb).replace(size, struct.pack("<I", 1000))
    with pytest.raises(DigestMismatch):
        decoded(lying, Frame(0, 0, len(lying), 1000, ZSTD, bytes(32)))


def test_a_frame_without_its_size_is_a_mismatch() -> None:
    stored = zstandard.ZstdCompressor(write_content_size=False).compress(TEXT)
    with pytest.raises(DigestMismatch):
        decoded(stored, Frame(0, 0, len(stored), len(TEXT), ZSTD, blake3(TEXT).digest()))


def test_a_trusted_frame_is_taken_as_it_comes() -> None:
    assert decoded(b"anything", Frame(0, 0, 8, 8, TRUSTED, bytes(32))) == b"anything"


@given(st.lists(st.integers(0, 30), max_size=8))
def test_the_units_of_a_frame_are_those_of_its_members(counts: list[int]) -> None:
    """A member without a newline at its end makes no unit with what follows it."""
    lines = [b'{"text": "%s"}\n' % (b"abc" * (7 * at % 90 + 20)) for at in range(40)]
    members = [b"".join(lines[:count]) + b"tail" * (count % 2) * 50 for count in counts]
    found = codec.record_units(b"".join(members), [len(member) for member in members])
    assert found is not None
    parts = [units(member) for member in members]
    assert list(found.hashes) == [each for part in parts for each in part.hashes]
    assert list(found.lengths) == [each for part in parts for each in part.lengths]


def test_a_frame_that_is_no_text_has_no_units() -> None:
    assert codec.record_units(NOISE, [len(NOISE)]) is None
    assert codec.record_units(b"\n" * 1000, [1000]) is None


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_units_do_not_depend_on_the_kind_of_buffer(kind: type) -> None:
    data = b"".join(b'{"text": "%s"}\n' % (b"x" * (60 + at % 50)) for at in range(300))
    found = codec.record_units(kind(data), [len(data)])
    assert found == units(data)
    assert found is not None and len(found.hashes) > 10
