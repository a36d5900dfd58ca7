"""Where things lie in the cache.

    <cache>/datasets/<name>/<version>/            the files; appears by one rename
    <cache>/datasets/<name>/<version>.json        receipt, written after the rename
    <cache>/datasets/<name>/<version>.placement   the placement, as stored in the remote
    <cache>/datasets/<name>/<version>.pin         present while the version is pinned
    <cache>/datasets/<name>/.<version>.evicted    the receipt, while the version is evicted
    <cache>/staging/<tree digest>/                work in progress
    <cache>/staging/import-<16 hex>/              what a running import brought here; see scratch.py
    <cache>/placed/<digest of path>.json          what was put where outside the cache
    <cache>/locks/                                flock files, disk reservations, leases

A name's `/` becomes `+` here (a name cannot hold one), so no dataset's folder can lie
inside a version of another.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from stager.model.digest import digest_of


class Folders(NamedTuple):
    """Paths below the cache's root; nothing is created here."""

    root: Path

    def dataset(self, name: str) -> Path:
        """Everything staged of one dataset."""
        return self.root / "datasets" / name.replace("/", "+")

    def version(self, name: str, version: str) -> Path:
        """The files of a staged version."""
        return self.dataset(name) / version

    def receipt(self, name: str, version: str) -> Path:
        """Its receipt."""
        return self.dataset(name) / f"{version}.json"

    def placement(self, name: str, version: str) -> Path:
        """Its placement."""
        return self.dataset(name) / f"{version}.placement"

    def pin(self, name: str, version: str) -> Path:
        """Present while it must not be removed."""
        return self.dataset(name) / f"{version}.pin"

    def evicted(self, name: str, version: str) -> Path:
        """Its receipt, taken away by whoever evicts it."""
        return self.dataset(name) / f".{version}.evicted"

    def staging(self, tree: str) -> Path:
        """Work in progress for a tree."""
        return self.root / "staging" / tree.replace(":", "-")

    def placed(self, destination: Path) -> Path:
        """What stager knows of a destination outside the cache."""
        return self.root / "placed" / f"{digest_of(bytes(destination)).hex}.json"

    def lock(self, name: str) -> Path:
        """A lock file; `name` is free text without slashes."""
        return self.root / "locks" / f"{name}.lock"

    def tree_lock(self, tree: str) -> Path:
        """Held while a tree is staged, and while it is evicted."""
        return self.lock(self.staging(tree).name)

    @property
    def leases(self) -> Path:
        """Which versions living processes need."""
        return self.root / "locks" / "leases"

    @property
    def reservations(self) -> Path:
        """Disk space promised to running pulls."""
        return self.root / "locks" / "space"
