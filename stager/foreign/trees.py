"""The small files of a repository: as they lie in a folder, or as a commit has them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from stager.foreign.git import LINK, MODULE, Repository

LARGEST_BYTES = 256 * 1024 * 1024  # a dvc.lock with a million files has about 100 MB


class Tree(Protocol):
    """Where files are read from, by path from the repository's folder."""

    def read(self, path: str) -> bytes | None:
        """A file's bytes; None when there is none."""
        ...

    def pointers(self) -> Iterator[tuple[str, bytes]]:
        """Every `*.dvc` and `dvc.lock` with its bytes."""
        ...


class FolderTree(NamedTuple):
    """What lies in a folder now."""

    root: str

    def read(self, path: str) -> bytes | None:
        """See Tree.read."""
        place = os.path.join(self.root, path)
        if not os.path.isfile(place) or os.path.getsize(place) > LARGEST_BYTES:
            return None
        return Path(place).read_bytes()

    def pointers(self) -> Iterator[tuple[str, bytes]]:
        """See Tree.pointers; does not look into tracked folders and other repositories."""
        for folder, folders, names in os.walk(self.root):
            known = set(names)
            folders[:] = sorted(name for name in folders if self._is_walked(folder, name, known))
            for name in sorted(filter(is_pointer, names)):
                path = os.path.relpath(os.path.join(folder, name), self.root)
                data = self.read(path)
                if data is not None:
                    yield path, data

    def _is_walked(self, folder: str, name: str, beside: set[str]) -> bool:
        if name in (".git", ".dvc") or f"{name}.dvc" in beside:
            return False
        return not os.path.isdir(os.path.join(folder, name, ".dvc"))


class CommitTree(NamedTuple):
    """What a commit holds, below the folder that the repository was opened at."""

    repository: Repository
    commit: str

    def read(self, path: str) -> bytes | None:
        """See Tree.read."""
        blob = self.repository.object_at(self.commit, path)
        if not blob or self.repository.kind(blob) != "blob":
            return None
        return self.repository.run("cat-file", "blob", blob)

    def pointers(self) -> Iterator[tuple[str, bytes]]:
        """See Tree.pointers."""
        tree = self.repository.object_at(self.commit, "")
        found = [
            entry
            for entry in self.repository.entries(tree)
            if entry.mode not in (LINK, MODULE)
            and is_pointer(os.path.basename(entry.path))
            and entry.size <= LARGEST_BYTES
        ]
        blobs = self.repository.blobs(entry.object_id for entry in found)
        for entry, (_, size, stream) in zip(found, blobs, strict=True):
            yield entry.path, stream.read(size)


def is_pointer(name: str) -> bool:
    """Whether DVC writes down outputs in a file of this name."""
    return name == "dvc.lock" or (name.endswith(".dvc") and name != ".dvc")
