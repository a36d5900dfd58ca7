"""How many bytes of disk a version will take: by block, not by length.

Sizes are rounded up to the blocks of the file system. Folders, extent tables, the placement
and the receipt are counted too: for a version of small files these are a good part of it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from pathlib import Path

from stager.cache.journal import NOTE_BYTES
from stager.cache.placing import transfer_file
from stager.cache.space import Need
from stager.cache.usage import BLOCK
from stager.model.placement import Placement

BESIDE = 6  # blocks: receipt, pin, and the folders above that may be new
ENTRY = 32  # bytes of a folder for a name, beside twice the name: ext4 leaves blocks half full
EXTENTS = 4 * 1024**2  # a file above this size may need a block that says where it lies
PER_TABLE = 256 * 1024**2  # and one more for so many bytes


def need_of(
    staging: Path, placement: Placement, stored: int, linked: Collection[int], resumes: bool
) -> Need:
    """What is still to be written into `staging`, which `begin` has made.

    `stored` is the length of the placement's file; files at the indexes in `linked` are
    taken from staged versions. `resumes` as `begin` said it.
    """
    block = max(os.statvfs(staging).f_frsize, BLOCK)
    sizes = [_on_disk(entry.size, block) for entry in placement.files]
    folders = _folders(placement, block)
    noted = NOTE_BYTES * len(placement.frames)
    beside = _rounded(stored, block) + _rounded(noted, block) + BESIDE * block
    missing = sum(size for at, size in enumerate(sizes) if at not in linked)
    if resumes:
        here = (
            min(sizes[at], _allocated(f"{staging}/{entry.path}"))
            for at, entry in enumerate(placement.files)
            if at not in linked
        )
        missing -= sum(here)
    grown = sum(max(0, size - _allocated(f"{staging}/{name}")) for name, size in folders.items())
    cloned = sum(sizes[at] for at in linked) if linked and _reflinks(staging) else 0
    disk = missing + grown + beside
    return Need(disk, disk + cloned, sum(sizes) + sum(folders.values()) + beside)


def _folders(placement: Placement, block: int) -> dict[str, int]:
    """Every folder of the version, itself as "", and what it takes when it is full."""
    taken: dict[str, int] = {"": 0}
    for entry in placement.files:
        name = entry.path
        while name:
            folder, _, last = name.rpartition("/")
            is_new = folder not in taken
            taken[folder] = taken.get(folder, 0) + ENTRY + 2 * len(last.encode())
            name = folder if is_new else ""
    return {name: _rounded(max(size, 1), block) for name, size in taken.items()}


def _on_disk(size: int, block: int) -> int:
    tables = 1 + size // PER_TABLE if size > EXTENTS else 0
    return _rounded(size, block) + tables * block


def _rounded(size: int, block: int) -> int:
    return -(-size // block) * block


def _allocated(location: str) -> int:
    with contextlib.suppress(OSError):
        return os.lstat(location).st_blocks * BLOCK
    return 0


def _reflinks(folder: Path) -> bool:
    """Whether files here are reflinked, which stat counts in full. Tries it with one block."""
    one, other = (folder / f".{os.getpid()}-{os.urandom(4).hex()}" for _ in range(2))
    try:
        one.write_bytes(b"x" * 4096)
        return transfer_file(str(one), str(other)) == "reflink"
    finally:
        one.unlink(missing_ok=True)
        other.unlink(missing_ok=True)
