"""Frames into packs.

A pack is the plain concatenation of stored frames, closed when it reaches its size: 8 MiB
for the first of a push, so that sending begins early, then 16, then 24. Its
key is the blake3 of its bytes, so the same frames make the same pack, and a push that was
killed finds on the next run what it had already sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from stager.model.digest import Digest, digest_of
from stager.model.records import Units
from stager.packs.codec import Encoded

FIRST_BYTES = 8 * 1024 * 1024
PACK_BYTES = 24 * 1024 * 1024


class StoredFrame(NamedTuple):
    """A frame that has a place in a pack; its bytes are in the pack's."""

    offset: int
    stored: int
    raw: int
    codec: int
    digest: bytes
    units: Units | None


class FinishedPack(NamedTuple):
    """Bytes to store, their digest, and where the frames lie in them."""

    data: bytearray
    digest: Digest
    frames: list[StoredFrame]


def assemble(encoded: Iterable[Encoded]) -> Iterator[FinishedPack]:
    """Packs in the order of their frames."""
    data, limit = bytearray(), FIRST_BYTES
    frames: list[StoredFrame] = []
    for stored, codec, raw, digest, units in encoded:
        frames.append(StoredFrame(len(data), len(stored), raw, codec, digest, units))
        data += stored
        if len(data) >= limit:
            yield FinishedPack(data, digest_of(data), frames)
            data, frames, limit = bytearray(), [], min(PACK_BYTES, 2 * limit)
    if frames:
        yield FinishedPack(data, digest_of(data), frames)
