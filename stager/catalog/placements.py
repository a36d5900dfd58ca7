"""Placements in the store: canonical bytes, zstd, addressed by their digest."""

from __future__ import annotations

import zstandard

from stager.catalog import landed
from stager.catalog.again import twice
from stager.errors import DigestMismatch, ManifestInvalid
from stager.model import holdings
from stager.model import placement as placements
from stager.model.digest import digest_of
from stager.model.holdings import Holdings
from stager.model.layout import placement_key
from stager.model.placement import Placement
from stager.model.version import PlacementKey
from stager.storage.store import Data, ObjectStore

LEVEL = 9
# A placement that unpacks to more than this many times what came is none. Real ones shrink two
# to twenty times: every file has a digest and every frame too, and those do not shrink.
MOST_SHRUNK = 100
ALWAYS_TAKEN = 16 * 1024 * 1024  # bytes; small ones may shrink as they like


def pack(placement: Placement) -> tuple[bytes, PlacementKey]:
    """A placement as it is stored, and its address."""
    raw = placement.encode()
    stored = zstandard.ZstdCompressor(level=LEVEL).compress(raw)
    return stored, PlacementKey(placement_key(digest_of(raw)), len(stored), len(raw))


def write(store: ObjectStore, placement: Placement) -> PlacementKey:
    """Stores a placement; safe to repeat, since equal placements have one key."""
    stored, key = pack(placement)
    landed.put(store, key.key, stored)
    return key


def read(store: ObjectStore, key: PlacementKey) -> tuple[Placement, Data]:
    """The placement, checked, and its stored bytes."""

    def look() -> tuple[Placement, Data]:
        stored = store.get(key.key, 0, key.stored)
        return unpack(stored, key.key, key.raw), stored

    return twice(look)


def read_holdings(store: ObjectStore, key: PlacementKey) -> Holdings:
    """Which objects the placement refers to, checked as far as that goes."""

    def look() -> Holdings:
        stored = store.get(key.key, 0, key.stored)
        return holdings.decode(_decompressed(stored, key.key, key.raw), key.key)

    return twice(look)


def unpack(stored: Data, key: str, raw_size: int | None = None) -> Placement:
    """The placement in stored bytes; its digest must be the one in `key`."""
    return placements.decode(_decompressed(stored, key, raw_size), key)


def _decompressed(stored: Data, key: str, raw_size: int | None) -> bytes:
    try:
        promised = zstandard.frame_content_size(stored)
        if raw_size is not None and promised != raw_size:
            reason = f"{promised} bytes decompressed, {raw_size} promised"
            raise ManifestInvalid(where=key, kind="placement", reason=reason)
        if promised > max(ALWAYS_TAKEN, MOST_SHRUNK * len(stored)):
            reason = f"{promised} bytes in {len(stored)}"
            raise ManifestInvalid(where=key, kind="placement", reason=reason)
        raw = zstandard.ZstdDecompressor().decompress(stored, allow_extra_data=False)
    except zstandard.ZstdError as problem:
        raise ManifestInvalid(where=key, kind="placement", reason=str(problem)) from problem
    digest = digest_of(raw)
    if not key.endswith("/" + digest.hex):
        expected = key.rpartition("/")[2]
        raise DigestMismatch(key=key, offset=0, expected=expected, actual=digest.hex)
    return raw
