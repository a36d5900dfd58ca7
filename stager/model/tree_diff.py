"""Which files of two trees are the same, changed, renamed, added or removed: by digest alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from stager.model.digest import Digest
from stager.model.tree import FileEntry


class TreeDiff(NamedTuple):
    """Every file of both trees, once; in the order of their paths.

    `renamed` are pairs of equal content, `changed` pairs of different content. The two paths
    of a changed pair differ only where each tree is a single file.
    """

    same: tuple[FileEntry, ...]
    changed: tuple[tuple[FileEntry, FileEntry], ...]
    renamed: tuple[tuple[FileEntry, FileEntry], ...]
    added: tuple[FileEntry, ...]
    removed: tuple[FileEntry, ...]

    @property
    def is_empty(self) -> bool:
        """Whether both are one tree."""
        return not (self.changed or self.renamed or self.added or self.removed)


def compare(before: Sequence[FileEntry], after: Sequence[FileEntry]) -> TreeDiff:
    """Files are the same by path, renamed by digest; an empty file is never renamed.

    Two trees of one file each are those files, whatever their names.
    """
    there = {entry.path: entry for entry in after}
    here = {entry.path for entry in before}
    same: list[FileEntry] = []
    changed: list[tuple[FileEntry, FileEntry]] = []
    removed: list[FileEntry] = []
    for entry in before:
        other = there.get(entry.path)
        if other is None:
            removed.append(entry)
        elif other.digest == entry.digest:
            same.append(other)
        else:
            changed.append((entry, other))
    added = [entry for entry in after if entry.path not in here]
    renamed = _renamed(removed, added)
    if len(before) == len(after) == len(removed) == len(added) == 1 and not renamed:
        changed, removed, added = [(before[0], after[0])], [], []
    gone = {entry.path for entry, _ in renamed}
    come = {entry.path for _, entry in renamed}
    return TreeDiff(
        tuple(same),
        tuple(changed),
        tuple(renamed),
        tuple(entry for entry in added if entry.path not in come),
        tuple(entry for entry in removed if entry.path not in gone),
    )


def _renamed(
    removed: Sequence[FileEntry], added: Sequence[FileEntry]
) -> list[tuple[FileEntry, FileEntry]]:
    """Of several files with one content the first with the first, and so on."""
    waiting: dict[Digest, list[FileEntry]] = defaultdict(list)
    for entry in reversed(removed):
        if entry.size:
            waiting[entry.digest].append(entry)
    return [(waiting[entry.digest].pop(), entry) for entry in added if waiting.get(entry.digest)]
