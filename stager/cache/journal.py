"""Frames used in part, as a pull left them in a staging folder.

A frame that the version uses whole is believed again by its own digest. Of one that is
used in part the rest is not kept, so the blake3 of the part is noted once it was cut from
a frame that was checked. 36 bytes a note, appended: frame (u32), digest. A torn note at
the end is ignored; a note is only ever compared with what is in the files.
"""

from __future__ import annotations

import contextlib
import os
import struct
from pathlib import Path

# No file of a version can have this name: a backslash is refused everywhere.
NAME = ".stager\\frames"
_NOTE = struct.Struct("<I32s")


def notes(folder: Path) -> dict[int, bytes]:
    """Frame -> blake3 of the part that was written, as noted by earlier runs."""
    with contextlib.suppress(OSError):
        data = (folder / NAME).read_bytes()
        whole = len(data) - len(data) % _NOTE.size
        return dict(_NOTE.iter_unpack(data[:whole]))
    return {}


def note(folder: Path, frame: int, digest: bytes) -> None:
    """Adds a note; one write, so that notes of several threads do not mix."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(folder / NAME, flags, 0o644)
    try:
        os.write(descriptor, _NOTE.pack(frame, digest))
    finally:
        os.close(descriptor)
