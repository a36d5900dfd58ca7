"""The file system that a folder is on, as the kernel's table of mounts names it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NamedTuple


class FileSystem(NamedTuple):
    """Type (ext4, xfs, ...), mount point, and bytes: size, and what a user may still write."""

    kind: str
    mounted_at: str
    size: int
    free: int


def file_system_of(folder: Path) -> FileSystem:
    """Of the folder, or of the nearest one above that exists."""
    there = Path(os.path.realpath(folder))
    while not there.exists():
        there = there.parent
    facts = os.statvfs(there)
    kind, mounted_at = _mount_of(there)
    return FileSystem(kind, mounted_at, facts.f_blocks * facts.f_frsize, free_bytes(there))


def free_bytes(path: Path) -> int:
    """What an ordinary user may still write on the file system of `path`."""
    facts = os.statvfs(path)
    return facts.f_bavail * facts.f_frsize


def _mount_of(there: Path) -> tuple[str, str]:
    """The mount with the longest path above; of several in one place, the last."""
    best = ("unknown", "")
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines():
            before, _, after = line.partition(" - ")
            point = _unescaped(before.split(" ")[4])
            if there.is_relative_to(point) and len(point) >= len(best[1]):
                best = (after.split(" ")[0], point)
    return best


def _unescaped(text: str) -> str:
    """Blanks and the like stand as three octal digits after a backslash."""
    for char in " \t\n":
        text = text.replace(f"\\{ord(char):03o}", char)
    return text.replace("\\134", "\\")
