"""Work in progress: a folder that becomes a version by one rename.

`begin` keeps what an earlier run left, `detach` frees what may not be written through,
`complete` makes it exactly the tree and `publish` shows it. Nothing in a staging folder is
believed before it was hashed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
from collections.abc import Iterable
from pathlib import Path

from stager.cache.folders import Folders
from stager.cache.frame_files import FrameFiles, create
from stager.cache.signature import READ_ONLY, cleared_signature
from stager.errors import IntegrityError
from stager.model import paths
from stager.model.placement import Placement
from stager.model.receipt import Receipt, Signature

STALE_SECONDS = 3600


def begin(folder: Path, placement: Placement) -> bool:
    """Makes the folder and every folder in it; whether there was work to resume.

    What stands in the place of a folder or file, a link for one, is removed: nothing is
    written through it. So is a file that is too long, for writing frames never shortens one.
    """
    resumes = folder.is_dir() and not folder.is_symlink()
    if not resumes and os.path.lexists(folder):
        os.unlink(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = [entry.path for entry in placement.files]
    for name in sorted(paths.folders(names)):
        location = f"{folder}/{name}"
        try:
            os.mkdir(location)
        except FileExistsError:
            if not stat.S_ISDIR(os.lstat(location).st_mode):
                os.unlink(location)
                os.mkdir(location)
    if resumes:
        _clear(folder, placement)
    return resumes and any(folder.iterdir())


def _clear(folder: Path, placement: Placement) -> None:
    for entry in placement.files:
        location = f"{folder}/{entry.path}"
        with contextlib.suppress(FileNotFoundError):
            facts = os.lstat(location)
            if stat.S_ISDIR(facts.st_mode):
                shutil.rmtree(location)
            elif not stat.S_ISREG(facts.st_mode) or facts.st_size > entry.size:
                os.unlink(location)


def detach(files: FrameFiles, frames: Iterable[int]) -> set[int]:
    """Unlinks files that will be rewritten but share their inode with another version.

    All frames to write: those given, and those of files that were unlinked, which may
    touch further shared files.
    """
    again: set[int] = set()
    pending = set(frames)
    while pending:
        again |= pending
        touched = {use.file for frame in pending for use in files.uses(frame)}
        pending = set()
        for file in touched:
            with contextlib.suppress(FileNotFoundError):
                if os.lstat(files.location(file)).st_nlink > 1:
                    os.unlink(files.location(file))
                    pending |= files.frames_of(file) - again
    return again


def complete(files: FrameFiles) -> Signature:
    """Makes the folder exactly the tree, read-only; IntegrityError when it cannot be.

    Writes empty files, removes what does not belong, and counts what is there.
    """
    placement, folder = files.placement, files.folder
    for at, entry in enumerate(placement.files):
        if entry.size == 0:
            os.close(create(files.location(at), READ_ONLY, os.O_TRUNC))
    found = cleared_signature(folder, {entry.path for entry in placement.files})
    if (found.files, found.bytes) != (len(placement.files), placement.bytes_raw):
        reason = f"{found.files} files of {found.bytes} bytes, not what the version holds"
        raise IntegrityError(where=folder, reason=reason)
    return found


def publish(folders: Folders, staging: Path, receipt: Receipt, placement: bytes) -> Path:
    """Shows the version: placement, one rename, receipt; the version's folder."""
    target = folders.version(receipt.name, receipt.version)
    target.parent.mkdir(parents=True, exist_ok=True)
    sweep(target.parent)
    write_whole(folders.placement(receipt.name, receipt.version), placement)
    os.rename(staging, target)
    write_whole(folders.receipt(receipt.name, receipt.version), receipt.encode())
    return target


def write_whole(path: Path, data: bytes) -> None:
    """Writes a small file so that it is there whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def discard(folder: Path) -> None:
    """Removes a folder tree, whether it is there or not; first from sight, then from disk."""
    doomed = folder.with_name(f".{folder.name}.removed-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        os.rename(folder, doomed)
    except FileNotFoundError:
        return
    shutil.rmtree(doomed, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Removes what runs that were killed left half removed or half written in a folder."""
    limit = time.time() - STALE_SECONDS
    with contextlib.suppress(OSError):
        for entry in folder.iterdir():
            if entry.name.startswith(".") and entry.lstat().st_ctime < limit:
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry, ignore_errors=True)
                else:
                    entry.unlink(missing_ok=True)
