"""Frames used in part, as a pull left them in a staging folder.

A frame that the version uses whole is believed again by its own digest. Of one that is
used in part the rest is not kept, so the blake3 of the part is noted once it was cut from
a frame that was checked. 36 bytes a note, appended: frame (u32), digest. A torn note at
the end counts for nothing; a note is only ever compared with what is in the files.
"""

from __future__ import annotations

import contextlib
import os
import struct
from pathlib import Path

from stager.cache.frame_files import IN_WORK, create

# No file of a version can have this name: a backslash is refused everywhere.
NAME = ".stager\\frames"
_NOTE = struct.Struct("<I32s")
NOTE_BYTES = _NOTE.size


def notes(folder: Path) -> dict[int, bytes]:
    """Frame -> blake3 of the part that was written, as noted by earlier runs.

    A torn note is cut off, so that those of this run stand where they are looked for.
    """
    location = folder / NAME
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with contextlib.suppress(OSError), open(os.open(location, flags), "rb") as file:
        data = file.read()
        whole = len(data) - len(data) % _NOTE.size
        if whole != len(data):
            os.truncate(location, whole)
        return dict(_NOTE.iter_unpack(data[:whole]))
    return {}


def note(folder: Path, frame: int, digest: bytes) -> None:
    """Adds a note; one write, so that notes of several threads do not mix."""
    descriptor = create(f"{folder}/{NAME}", IN_WORK, os.O_APPEND)
    try:
        os.write(descriptor, _NOTE.pack(frame, digest))
    finally:
        os.close(descriptor)
