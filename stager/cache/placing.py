"""A staged version at a place of the user's choice outside the cache.

Each file is reflinked where the file system can, hardlinked where it is the same one, and
copied otherwise. The folder is built beside its destination and appears by one rename. A
destination is replaced only when it is exactly what stager put there before.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from stager.cache.folders import Folders
from stager.cache.signature import signature_of
from stager.cache.staging import discard, write_whole
from stager.errors import CacheError, DestinationOccupied
from stager.model.receipt import Receipt, Signature

FICLONE = 0x40049409  # linux/fs.h
AT_FDCWD = -100
RENAME_EXCHANGE = 2  # linux/fs.h


@dataclass(frozen=True, slots=True)
class _Placed:
    """A tree's digest, and what the folder that holds it looks like to stat."""

    tree: str
    signature: Signature


def is_placed(folders: Folders, destination: Path, tree: str) -> bool:
    """Whether the destination holds this tree, put there by stager and not edited since."""
    known = _known(folders, destination)
    return any(each.tree == tree and _matches(destination, each.signature) for each in known)


def check(folders: Folders, destination: Path) -> None:
    """DestinationOccupied unless the destination is free, empty, or stager's own work."""
    if not os.path.lexists(destination):
        return
    if destination.is_dir() and not destination.is_symlink():
        if not any(destination.iterdir()):
            return
        known = _known(folders, destination)
        if any(_matches(destination, each.signature) for each in known):
            return
        detail = ", or was edited since" if known else ""
        raise DestinationOccupied(path=str(destination), detail=detail)
    raise DestinationOccupied(path=str(destination), detail=": a file or link is there")


def place(folders: Folders, source: Path, receipt: Receipt, destination: Path) -> str:
    """Puts the version at `destination`; how: reflink, hardlink or copy.

    Call `check` first, and hold the destination's lock; it is looked at again just before
    it is replaced.
    """
    destination.parent.mkdir(parents=True, exist_ok=True)
    for left in destination.parent.glob(f".{glob.escape(destination.name)}.stager-*"):
        discard(left)  # by a run that was killed: the caller holds the destination's lock
    work = destination.with_name(f".{destination.name}.stager-{os.urandom(6).hex()}")
    try:
        how = _fill(source, work)
        signature = signature_of(work)
        if (signature.files, signature.bytes) != (receipt.files, receipt.bytes_raw):
            raise CacheError(path=str(source), reason="changed while it was being placed")
        check(folders, destination)
        _remember(folders, destination, _Placed(receipt.tree, signature))
        _show(work, destination)
    finally:
        discard(work)
    return how


def transfer_file(source: str, target: str) -> str:
    """One file by the cheapest way that works here; the name of the way."""
    for name, way in _WAYS:
        try:
            way(source, target)
            return name
        except OSError as problem:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(target)
            if problem.errno in (errno.ENOSPC, errno.EDQUOT) or way is _copy:
                raise
    raise AssertionError("unreachable: copying works or raises")


def _fill(source: Path, work: Path) -> str:
    ways: set[str] = set()
    work.mkdir()
    for parent, names, files in os.walk(source):
        below = work / os.path.relpath(parent, source)
        for name in names:
            (below / name).mkdir()
        for name in files:
            ways.add(transfer_file(os.path.join(parent, name), str(below / name)))
    return next((name for name, _ in reversed(_WAYS) if name in ways), "hardlink")


def _show(work: Path, destination: Path) -> None:
    """One rename: onto nothing or an empty folder, else an exchange with what is there."""
    try:
        os.rename(work, destination)
    except OSError as problem:
        if problem.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        _exchange(work, destination)


def _exchange(one: Path, other: Path) -> None:
    """renameat2(2) with RENAME_EXCHANGE; where it is missing, two renames."""
    import ctypes  # 3 ms that only a replaced destination needs

    libc = ctypes.CDLL(None, use_errno=True)
    names = (AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other))
    if hasattr(libc, "renameat2") and libc.renameat2(*names, RENAME_EXCHANGE) == 0:
        return
    aside = other.with_name(f".{other.name}.stager-{os.urandom(6).hex()}")
    os.rename(other, aside)
    os.rename(one, other)
    os.rename(aside, one)


def _remember(folders: Folders, destination: Path, placed: _Placed) -> None:
    """Before the folder appears: a kill in between must not make a stranger of our own work.

    What is there until then stays known too.
    """
    there = [each for each in _known(folders, destination) if _matches(destination, each.signature)]
    document = {"path": str(destination), "placed": [asdict(each) for each in (placed, *there[:1])]}
    folders.placed(destination).parent.mkdir(parents=True, exist_ok=True)
    write_whole(folders.placed(destination), json.dumps(document).encode())


def _known(folders: Folders, destination: Path) -> list[_Placed]:
    """What stager put there or was about to; the destination holds one of them, or is foreign."""
    try:
        document = json.loads(folders.placed(destination).read_bytes())
        return [
            _Placed(str(each["tree"]), Signature(**each["signature"]))
            for each in document["placed"]
        ]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return []


def _matches(destination: Path, signature: Signature) -> bool:
    try:
        return signature_of(destination) == signature
    except OSError:
        return False


def _reflink(source: str, target: str) -> None:
    with open(source, "rb") as original, open(target, "xb") as clone:
        fcntl.ioctl(clone.fileno(), FICLONE, original.fileno())
    shutil.copystat(source, target)


def _copy(source: str, target: str) -> None:
    shutil.copy2(source, target)


_WAYS: tuple[tuple[str, Callable[[str, str], None]], ...] = (
    ("reflink", _reflink),
    ("hardlink", os.link),
    ("copy", _copy),
)
