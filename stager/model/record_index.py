"""The record index of a pack: which records its frames hold, so that nobody need read them.

`records/<aa>/<digest of the pack>`, written before the pack itself, never needed to read a
version. Columns (model/columns.py), zstd with a checksum:

    frame_offset   u64   where the frame begins in the pack
    frame_units    u32   number of its units (model/records.py)
    unit_hash      u64   xxh3-64 of each unit, in order, frame after frame
    unit_length    u32   its length in raw bytes

Twelve bytes a unit before compression, a little over nine after: the hashes do not shrink.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import cast

from stager.errors import ManifestInvalid
from stager.model import columns
from stager.model.records import Units

KIND = "records"
TYPES = {
    "frame_offset": "u64",
    "frame_units": "u32",
    "unit_hash": "u64",
    "unit_length": "u32",
}


def encode(frames: Iterable[tuple[int, Units]]) -> bytes:
    """The index of frames given as (offset in the pack, units)."""
    table = {name: columns.integers(kind) for name, kind in TYPES.items()}
    for offset, units in frames:
        table["frame_offset"].append(offset)
        table["frame_units"].append(len(units.hashes))
        table["unit_hash"].extend(units.hashes)
        table["unit_length"].extend(units.lengths)
    return columns.encode(KIND, {name: (TYPES[name], table[name]) for name in TYPES})


def decode(data: bytes, where: str) -> Iterator[tuple[int, Units]]:
    """Frames by offset and their units; ManifestInvalid when the columns do not agree."""
    table = columns.decode(KIND, data, where, TYPES)
    offsets, counts, hashes, lengths = (cast("array[int]", table[name]) for name in TYPES)
    if len(offsets) != len(counts) or len(hashes) != len(lengths) or sum(counts) != len(hashes):
        raise ManifestInvalid(where=where, kind=KIND, reason="columns differ in length")
    start = 0
    for offset, count in zip(offsets, counts, strict=True):
        yield offset, Units(hashes[start : start + count], lengths[start : start + count])
        start += count
