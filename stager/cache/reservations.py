"""Disk space reserved for running pulls and not yet written.

A reservation is a file under flock, written while the "space" lock is held; one whose process
died is swept by the next pull. It names the staging folder and what that held when the
reservation was made, so what was written since no longer counts twice.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stager.cache.folders import Folders
from stager.cache.locks import try_lock
from stager.cache.usage import Usage, allocated


class Reservation(NamedTuple):
    """Bytes that the disk must give, and that the budget counts.

    They differ where files are reflinked: the disk gives nothing, stat counts all.
    `held` are the allocated bytes of the staging folder at the start, `inode` is its own.
    """

    disk: int
    counted: int
    inode: int = 0
    held: int = 0

    def remaining(self, usage: Usage) -> Reservation:
        """What is still to be written, when the cache holds `usage`."""
        holder = usage.inodes.get(self.inode)
        if holder is None:
            return self
        if holder.parent.name != "staging":  # published
            return Reservation(0, 0)
        written = max(0, usage.unique(holder) - self.held)
        counted = max(0, self.counted - written)
        return Reservation(min(self.disk, counted), counted)


def total(reservations: list[Reservation], usage: Usage | None = None) -> Reservation:
    """The sum of reservations, or with `usage` of what remains of them."""
    left = [each.remaining(usage) for each in reservations] if usage else reservations
    return Reservation(sum(one.disk for one in left), sum(one.counted for one in left))


@contextlib.contextmanager
def promised(folders: Folders, disk: int, counted: int, staging: Path) -> Iterator[None]:
    """Writes the reservation down; call it under the "space" lock, leave it without."""
    inode = os.stat(staging).st_ino if staging.is_dir() else 0
    reservation = Reservation(disk, counted, inode, allocated(staging))
    path = folders.reservations / f"{os.getpid()}-{os.urandom(4).hex()}"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC)
    try:
        try_lock(descriptor, path)
        os.write(descriptor, json.dumps(reservation).encode())
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def living(folders: Folders, sweep: bool = False) -> list[Reservation]:
    """Promises to living processes; `sweep` removes others: call that under the "space" lock."""
    found: list[Reservation] = []
    try:
        entries = list(folders.reservations.iterdir())
    except FileNotFoundError:
        return found
    for entry in entries:
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(entry, os.O_RDWR | os.O_CLOEXEC)
            try:
                if not try_lock(descriptor, entry):
                    found.append(_decoded(os.read(descriptor, 1000)))
                elif sweep:
                    entry.unlink()
            finally:
                os.close(descriptor)
    return found


def _decoded(data: bytes) -> Reservation:
    """A reservation being written reads as none; nobody who counts meets one."""
    try:
        return Reservation(*map(int, json.loads(data)))
    except (ValueError, TypeError):
        return Reservation(0, 0)
