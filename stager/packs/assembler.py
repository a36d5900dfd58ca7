"""Frames into packs.

A pack is the plain concatenation of stored frames, closed when it reaches PACK_BYTES. Its
key is the blake3 of its bytes, so the same frames make the same pack, and a push that was
killed finds on the next run what it had already sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from stager.model.digest import Digest, digest_of
from stager.packs.codec import Encoded

PACK_BYTES = 32 * 1024 * 1024


class StoredFrame(NamedTuple):
    """A frame that has a place in a pack; its bytes are in the pack's."""

    offset: int
    stored: int
    raw: int
    codec: int
    digest: bytes


class FinishedPack(NamedTuple):
    """Bytes to store, their digest, and where the frames lie in them."""

    data: bytearray
    digest: Digest
    frames: list[StoredFrame]


def assemble(encoded: Iterable[Encoded]) -> Iterator[FinishedPack]:
    """Packs in the order of their frames."""
    data = bytearray()
    frames: list[StoredFrame] = []
    for stored, codec, raw, digest in encoded:
        frames.append(StoredFrame(len(data), len(stored), raw, codec, digest))
        data += stored
        if len(data) >= PACK_BYTES:
            yield FinishedPack(data, digest_of(data), frames)
            data, frames = bytearray(), []
    if frames:
        yield FinishedPack(data, digest_of(data), frames)
