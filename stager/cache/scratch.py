"""A folder in the cache for files that nobody keeps.

    <cache>/staging/scratch-<pid>-<random>/

It goes when its user is done or fails. One whose process was killed is removed by the next
who makes one: the folder itself is locked while it is used.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from stager.cache.folders import Folders
from stager.cache.locks import exclusive, try_lock
from stager.events import Listener

_PREFIX = "scratch-"


@contextlib.contextmanager
def scratch(folders: Folders, listener: Listener) -> Iterator[Path]:
    """An empty folder on the cache's disk; gone afterwards with all that is in it."""
    parent = folders.root / "staging"
    parent.mkdir(parents=True, exist_ok=True)
    folder = parent / f"{_PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
    with exclusive(folders.lock("scratch"), listener):
        _sweep(parent)
        folder.mkdir()
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try_lock(descriptor, folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _sweep(parent: Path) -> None:
    for left in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            descriptor = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if try_lock(descriptor, left):
                    shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(descriptor)
