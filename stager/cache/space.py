"""Disk space: checked and promised before the first byte.

Free space counts what running pulls have been promised and not yet written. A promise is
a file under flock holding a number of bytes; one whose process died is swept by the next.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from stager.cache.folders import Folders
from stager.cache.locks import exclusive, try_lock
from stager.cache.options import CacheOptions
from stager.errors import DiskFull
from stager.events import Listener
from stager.model.sizes import size_text


@contextlib.contextmanager
def reserved(options: CacheOptions, needed: int, listener: Listener) -> Iterator[None]:
    """Holds `needed` bytes of the cache's disk; DiskFull with both numbers when it lacks them.

    A disk that is full all the same, somebody else may have filled it, is DiskFull too.
    """
    folders = Folders(options.path)
    folders.reservations.mkdir(parents=True, exist_ok=True)
    promise = folders.reservations / f"{os.getpid()}-{os.urandom(4).hex()}"
    with exclusive(folders.lock("space"), listener):
        _check(options, needed, _promised(folders.reservations))
        descriptor = os.open(promise, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC)
        try_lock(descriptor, promise)
        os.write(descriptor, str(needed).encode())
    try:
        yield
    except OSError as problem:
        if problem.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        free = size_text(free_bytes(options.path))
        raise DiskFull(path=str(options.path), needed=size_text(needed), free=free) from problem
    finally:
        promise.unlink(missing_ok=True)
        os.close(descriptor)


def free_bytes(path: Path) -> int:
    """What an ordinary user may still write on the file system of `path`."""
    facts = os.statvfs(path)
    return facts.f_bavail * facts.f_frsize


def _check(options: CacheOptions, needed: int, promised: int) -> None:
    usable = free_bytes(options.path) - options.free_floor - promised
    if needed > usable:
        detail = f" after a floor of {size_text(options.free_floor)}"
        if promised:
            detail += f" and {size_text(promised)} promised to other pulls"
        raise DiskFull(
            path=str(options.path),
            needed=size_text(needed),
            free=size_text(max(0, usable)),
            detail=detail,
            hint="`stager cache ls` shows what is staged, `stager cache rm` removes it",
        )


def _promised(folder: Path) -> int:
    """Bytes promised to living processes; promises of dead ones are swept."""
    total = 0
    for entry in list(folder.iterdir()):
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(entry, os.O_RDWR | os.O_CLOEXEC)
            try:
                if try_lock(descriptor, entry):
                    entry.unlink()
                else:
                    total += int(os.read(descriptor, 20) or b"0")
            finally:
                os.close(descriptor)
    return total
