"""Record indexes in the store: one beside each pack that holds records."""

from __future__ import annotations

from collections.abc import Iterator

import zstandard

from stager.catalog.again import twice
from stager.errors import ManifestInvalid
from stager.model import record_index
from stager.model.layout import records_key
from stager.model.records import Units
from stager.storage.store import Data, ObjectStore

LEVEL = 3
MAX_RAW = 64 * 1024**2  # five million units: of packs that compress a hundred times, none is kept


def packed(frames: list[tuple[int, Units]]) -> bytes:
    """The index as it is stored; empty where there is nothing to tell, or too much."""
    raw = record_index.encode(frames) if frames else b""
    if not 0 < len(raw) <= MAX_RAW:
        return b""
    return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(raw)


def write(store: ObjectStore, pack: str, data: bytes) -> None:
    """Stores the index of the pack at this key."""
    store.put(records_key(pack), data)


def read(store: ObjectStore, pack: str) -> list[tuple[int, Units]]:
    """The index of the pack at this key, in one request.

    ObjectNotFound where none was written, ManifestInvalid for bytes that are none.
    """
    key = records_key(pack)
    return twice(lambda: list(_unpacked(store.read(key, MAX_RAW), f"{store.url}/{key}")))


def _unpacked(stored: Data, where: str) -> Iterator[tuple[int, Units]]:
    try:
        size = zstandard.frame_content_size(stored)
        if not 0 < size <= MAX_RAW:
            raise ManifestInvalid(where=where, kind="record index", reason=f"{size} bytes of it")
        raw = zstandard.ZstdDecompressor().decompress(stored, allow_extra_data=False)
    except zstandard.ZstdError as problem:
        raise ManifestInvalid(where=where, kind="record index", reason=str(problem)) from problem
    return record_index.decode(raw, where)
