"""The tree: what a version is.

Canonical bytes, one line a file, sorted by the UTF-8 bytes of the path:

    ["<path>",<size>,"<digest>"]\\n

JSON with no spaces and non-ASCII characters as themselves. The tree digest is the blake3
of these bytes; it depends on nothing else, in particular not on where the bytes lie.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from stager.model.digest import STRONG, WEAK, Digest, digest_of


class FileEntry(NamedTuple):
    """One file of a tree; `size` in bytes."""

    path: str
    size: int
    digest: Digest


@dataclass(frozen=True, slots=True)
class Tree:
    """Files in canonical order."""

    files: tuple[FileEntry, ...]

    @classmethod
    def of(cls, files: Iterable[FileEntry]) -> Tree:
        """The tree of `files`; ValueError when a path stands twice."""
        ordered = tuple(sorted(files, key=lambda entry: entry.path.encode()))
        for one, other in pairwise(ordered):
            if one.path == other.path:
                raise ValueError(f"path twice in a tree: {one.path!r}")
        return cls(ordered)

    @property
    def bytes_raw(self) -> int:
        """Sum of the file sizes."""
        return sum(entry.size for entry in self.files)

    def canonical(self) -> bytes:
        """The bytes that are hashed."""
        quoted = json.encoder.encode_basestring  # what JSONEncoder(ensure_ascii=False) calls
        return "".join(
            f'[{quoted(path)},{size},"{digest.algorithm}:{digest.raw.hex()}"]\n'
            for path, size, digest in self.files
        ).encode()

    def digest(self) -> Digest:
        """The identity of the version; of the weak kind while any file's digest is."""
        raw = digest_of(self.canonical()).raw
        return Digest(raw, STRONG if all(file.digest.is_proof for file in self.files) else WEAK)
