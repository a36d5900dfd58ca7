"""A folder of the cache for one run: removed at its end, or by a later run if it was killed.

`<cache>/staging/scratch-<16 hex>` is held by flock on the folder itself, so one whose process
died is known by its free lock, however old it is.
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

PREFIX = "scratch-"


@contextlib.contextmanager
def scratch(folders: Folders, listener: Listener) -> Iterator[Path]:
    """A new, empty folder that exists until the block ends; sweeps those of dead runs."""
    folder = folders.staging(f"{PREFIX}{os.urandom(8).hex()}")
    with exclusive(folders.lock("scratch"), listener):
        folder.parent.mkdir(parents=True, exist_ok=True)
        for other in sorted(folder.parent.glob(f"{PREFIX}*")):
            sweep(other)
        folder.mkdir(mode=0o700)
        descriptor = _open(folder)
        try_lock(descriptor, folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def sweep(folder: Path) -> None:
    """Removes a scratch folder, unless the run that made it lives."""
    with contextlib.suppress(OSError):
        descriptor = _open(folder)
        try:
            if try_lock(descriptor, folder):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(descriptor)


def _open(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
