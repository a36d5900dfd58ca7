"""Symbolic links of a Git tree, followed without a file system.

As `push` does with a folder: a link is what it points to, a file or a whole folder, as long
as that lies in the tree.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Generic, NamedTuple, TypeVar

from stager.model import paths

HOPS = 40  # as Linux
MOST_FILES = 5_000_000  # what a handful of links to folders of links could make of a small tree

T = TypeVar("T")


class Followed(NamedTuple, Generic[T]):
    """What links stand for, by path, and what is wrong with others."""

    files: dict[str, T]
    findings: list[str]


def follow(files: Mapping[str, T], links: Mapping[str, str]) -> Followed[T]:
    """Every link of a tree, given its files and the text of its links by path."""
    walk = _Walk(files, links)
    for link in links:
        walk.expand(link, link, frozenset(_above(link)))
    return Followed(walk.reached, walk.findings)


class _Walk(Generic[T]):
    def __init__(self, files: Mapping[str, T], links: Mapping[str, str]) -> None:
        self.files = files
        self.links = links
        self.reached: dict[str, T] = {}
        self.findings: list[str] = []
        self.children: dict[str, list[str]] = defaultdict(list)
        folders = paths.folders([*files, *links])
        for path in [*files, *links, *folders]:
            self.children[posixpath.dirname(path)].append(path)

    def expand(self, shown: str, link: str, above: frozenset[str]) -> None:
        """Adds what `link` stands for as `shown`; `above` are the folders around it."""
        try:
            target = self._target(link)
        except ValueError as problem:
            self.findings.append(f"{shown!r}: {problem}")
            return
        if target in self.files:
            self.reached[shown] = self.files[target]
        elif target not in self.children:
            self.findings.append(f"{shown!r}: a link to nothing")
        elif target in above:
            self.findings.append(f"{shown!r}: a link that leads back to a folder above it")
        else:
            self._folder(shown, target, above)

    def _folder(self, shown: str, target: str, above: frozenset[str]) -> None:
        for path in self._below(target):
            name = shown + path[len(target) :]
            if len(self.reached) >= MOST_FILES:
                self.findings.append(f"{shown!r}: links that stand for too many files")
                return
            if path in self.files:
                self.reached[name] = self.files[path]
            else:
                self.expand(name, path, above | {target, *_above(path)})

    def _below(self, folder: str) -> Iterator[str]:
        pending = [folder]
        while pending:
            for path in self.children[pending.pop()]:
                if path in self.files or path in self.links:
                    yield path
                else:
                    pending.append(path)

    def _target(self, link: str) -> str:
        """Where a link leads, through other links; ValueError says why nowhere."""
        pending, done = link.split("/"), list[str]()
        hops = 0
        while pending:
            part = pending.pop(0)
            if done and "/".join(done) not in self.children:
                raise ValueError("a link to nothing")
            if part == ".." and not done:
                raise ValueError("a link that leaves the tree")
            if part == "..":
                done.pop()
            elif part not in ("", "."):
                done.append(part)
                text = self.links.get("/".join(done))
                if text is not None:
                    hops += 1
                    if text.startswith("/"):
                        raise ValueError("a link that leaves the tree")
                    if hops > HOPS:
                        raise ValueError("a link that leads to itself")
                    done.pop()
                    pending = text.split("/") + pending
        return "/".join(done)


def _above(path: str) -> Iterator[str]:
    """Every folder that `path` lies in, the root (empty) last."""
    while path:
        path = posixpath.dirname(path)
        yield path
