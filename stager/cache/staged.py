"""Which versions are staged here, and whether they are still what was verified."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stager.cache.folders import Folders
from stager.cache.signature import signature_of
from stager.errors import ManifestInvalid
from stager.model import receipt as receipts
from stager.model.receipt import Receipt


class Staged(NamedTuple):
    """A version in the cache: its receipt, its folder, and whether it is pinned."""

    receipt: Receipt
    folder: Path
    pinned: bool

    @property
    def reference(self) -> str:
        """`name@version`."""
        return f"{self.receipt.name}@{self.receipt.version}"

    def is_intact(self) -> bool:
        """Whether the files still carry the signature they were verified with."""
        try:
            return signature_of(self.folder) == self.receipt.signature
        except OSError:
            return False

    def last_used(self) -> float:
        """When it was last asked for, in seconds since the epoch.

        The modification time of its folder, which `touch` sets: a walk through the files
        leaves it alone, while relatime would let it move an access time.
        """
        return os.stat(self.folder).st_mtime

    def touch(self) -> None:
        """It is asked for now."""
        os.utime(self.folder)


def find(folders: Folders, name: str, version: str) -> Staged | None:
    """The staged version, None when it is not here or its receipt cannot be read."""
    path = folders.receipt(name, version)
    folder = folders.version(name, version)
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, ManifestInvalid):
        receipt = receipts.decode(path.read_bytes(), str(path))
        if (receipt.name, receipt.version) == (name, version) and folder.is_dir():
            return Staged(receipt, folder, folders.pin(name, version).exists())
    return None


def everything(folders: Folders) -> Iterator[Staged]:
    """Every staged version, by name and version."""
    root = folders.root / "datasets"
    if not root.is_dir():
        return
    for dataset in sorted(path for path in root.iterdir() if path.is_dir()):
        for path in sorted(dataset.glob("*.json")):
            found = find(folders, dataset.name.replace("+", "/"), path.name.removesuffix(".json"))
            if found:
                yield found


def pin(folders: Folders, staged: Staged, pinned: bool) -> None:
    """Protects a version from removal, or no longer."""
    path = folders.pin(staged.receipt.name, staged.receipt.version)
    if pinned:
        path.touch()
    else:
        path.unlink(missing_ok=True)
