"""flock(2) locks: held by a process, released by the kernel when it dies.

Plain fcntl rather than filelock: that package takes 0.1 s to import on a slow node, a
third of what a no-op pull may take, and what is needed is one system call. Where a file
system has no flock, CacheBusy says so; nothing runs unlocked.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from stager.errors import CacheBusy, CacheError
from stager.events import Listener, Waiting


@contextlib.contextmanager
def exclusive(path: Path, listener: Listener, wait: bool = True) -> Iterator[None]:
    """Holds the lock at `path`; tells the listener whom it waits for.

    CacheBusy when `wait` is false and somebody holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        if not try_lock(descriptor, path):
            holder = holder_of(descriptor)
            if not wait:
                raise CacheBusy(path=str(path), holder=holder)
            listener(Waiting(path.stem, holder))
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()}".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def try_lock(descriptor: int, path: Path) -> bool:
    """Takes the lock unless somebody has it; CacheError where flock does not work."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        reason = (
            f"this file system has no flock ({problem.strerror}); put the cache on a local disk"
        )
        raise CacheError(path=str(path), reason=reason) from problem
    return True


def check(folder: Path) -> None:
    """CacheError where nothing can be written in `folder`, or flock does not work there."""
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            try_lock(file.fileno(), folder)
    except OSError as problem:
        reason = f"nothing can be written there ({problem.strerror})"
        raise CacheError(path=str(folder), reason=reason) from problem


def holder_of(descriptor: int) -> str:
    """Who holds the lock, as its file says."""
    return os.pread(descriptor, 200, 0).decode(errors="replace") or "another process"
