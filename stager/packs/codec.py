"""One frame: raw bytes to stored bytes and back, checked.

zstd level 3 where it pays. Whether it pays is asked of three samples first, so that
images and archives cost no compression time; a frame that did not shrink by 3 % is stored
raw, which lets a reader write it without touching it.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Container, Sequence
from typing import NamedTuple

import zstandard
from blake3 import blake3

from stager.errors import DigestMismatch
from stager.model.placement import RAW, TRUSTED, ZSTD, Frame
from stager.model.records import Units, holds_records, units

LEVEL = 3
PAYS_BELOW = 0.97
SAMPLE = 16 * 1024

Bytes = bytes | bytearray | memoryview


class Encoded(NamedTuple):
    """A frame ready to be stored; `stored` is empty when the store has the frame already."""

    stored: Bytes
    codec: int
    raw: int
    digest: bytes
    units: Units | None = None  # of a frame of records, when an index is wanted


class _Coders(threading.local):
    """zstd contexts are not shared between threads."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=LEVEL, write_content_size=True)
        self.sampler = zstandard.ZstdCompressor(level=1)
        self.decompressor = zstandard.ZstdDecompressor()


_coders = _Coders()


def encode(raw: Bytes, known: Container[bytes] = frozenset()) -> Encoded:
    """Hashes and, where it pays, compresses; releases the GIL for both.

    A frame whose digest is in `known` is only hashed.
    """
    digest = blake3(raw).digest()
    if digest in known:
        return Encoded(b"", RAW, len(raw), digest)
    if _may_pay(memoryview(raw)):
        packed = _coders.compressor.compress(raw)
        if len(packed) < len(raw) * PAYS_BELOW:
            return Encoded(packed, ZSTD, len(raw), digest)
    return Encoded(raw, RAW, len(raw), digest)


def record_units(raw: Bytes, lengths: Sequence[int]) -> Units | None:
    """The units of a frame whose members have these lengths; None where it holds no records."""
    data = bytes(raw)
    if not holds_records(data):
        return None
    found = Units(array("Q"), array("I"))
    start = 0
    for length in lengths:
        part = units(data if length == len(data) else data[start : start + length])
        found.hashes.extend(part.hashes)
        found.lengths.extend(part.lengths)
        start += length
    return found


def decode(stored: memoryview, frame: Frame, key: str) -> Bytes:
    """The raw bytes of `frame`, or DigestMismatch naming the pack's key and the offset.

    The size in the zstd header is compared before anything is allocated, so a hostile
    frame cannot ask for more memory than its placement admits.
    """
    raw: Bytes = stored
    if frame.codec == ZSTD:
        raw = _decompressed(stored, frame, key)
    if frame.codec != TRUSTED:
        actual = blake3(raw).digest()
        if actual != frame.digest:
            raise mismatch(frame, key, actual.hex())
    return raw


def mismatch(frame: Frame, key: str, actual: str) -> DigestMismatch:
    """The error for a frame whose bytes are not what the placement says."""
    return DigestMismatch(key=key, offset=frame.offset, expected=frame.digest.hex(), actual=actual)


def _decompressed(stored: memoryview, frame: Frame, key: str) -> bytes:
    try:
        if zstandard.frame_content_size(stored) != frame.raw:
            raise mismatch(frame, key, "a frame of another size")
        return _coders.decompressor.decompress(
            stored, max_output_size=frame.raw, allow_extra_data=False
        )
    except zstandard.ZstdError as problem:
        raise mismatch(frame, key, f"no zstd frame ({problem})") from problem


def _may_pay(raw: memoryview) -> bool:
    size = len(raw)
    if size < 4 * SAMPLE:
        return True
    sampled = 0
    for start in (0, size // 2, size - SAMPLE):
        sampled += len(_coders.sampler.compress(raw[start : start + SAMPLE]))
    return sampled < 3 * SAMPLE * PAYS_BELOW
