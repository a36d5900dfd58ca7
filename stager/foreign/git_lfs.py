"""A path of a Git repository whose large files are Git LFS pointers.

A pointer is a blob under 1024 bytes, lines of `key value`, `version` first and the other
keys in order (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md):

    version https://git-lfs.github.com/spec/v1
    oid sha256:<64 hex>
    size <bytes>

Its object lies in `<git folder>/lfs/objects/<aa>/<bb>/<oid>`. Other blobs are ordinary
files: their content as Git holds it, with no line endings converted.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from typing import NamedTuple

from stager.errors import UsageError
from stager.foreign.found import ForeignFile, Found
from stager.foreign.git import LINK, MODULE, Entry, Repository
from stager.foreign.links import follow
from stager.model.promise import is_hex

POINTER_BELOW = 1024
VERSIONS = ("https://git-lfs.github.com/spec/v1", "https://hawser.github.com/spec/v1")
BEGINNINGS = (b"version https://git-lfs.github.com/", b"version https://hawser.github.com/")
LINK_BYTES = 4096

_LINE = re.compile(r"([a-z0-9.-]+) ([^\n]+)")
_SIZE = re.compile(r"0|[1-9][0-9]{0,18}")
_PLAIN = re.compile(r"[^*?\[\]\\,!]+")


class Pointer(NamedTuple):
    """What a pointer says of the file in whose place it stands."""

    oid: str
    size: int


def parse_pointer(data: bytes) -> Pointer | None:
    """The pointer in a blob; None for an ordinary file.

    ValueError for what begins as a pointer and is none by the specification, or is of a
    kind that would need a program to be run (an extension).
    """
    if len(data) >= POINTER_BELOW or not data.startswith(BEGINNINGS):
        return None
    lines = data.decode(errors="replace").split("\n")
    matches = [_LINE.fullmatch(line) for line in lines[:-1]]
    if lines[-1] or None in matches:
        raise ValueError("lines of 'key value', each ended by a newline, expected")
    pairs = [(match[1], match[2]) for match in matches if match]
    keys = [key for key, _ in pairs]
    if keys[0] != "version" or keys[1:] != sorted(set(keys[1:])):
        raise ValueError("'version' first and the other keys in order, each once, expected")
    values = dict(pairs)
    if values["version"] not in VERSIONS:
        raise ValueError(f"version {values['version']} is not one this stager reads")
    if extension := next((key for key in keys if key.startswith("ext-")), ""):
        raise ValueError(f"made by the extension {extension}")
    kind, _, oid = values.get("oid", "").partition(":")
    size = values.get("size", "")
    if kind != "sha256" or not is_hex(oid, 64) or not _SIZE.fullmatch(size):
        raise ValueError("an oid of sha256 and a size expected")
    return Pointer(oid, int(size))


def storage_of(repository: Repository) -> str:
    """The folder of the repository's LFS objects."""
    common = os.path.join(repository.folder, repository.text("rev-parse", "--git-common-dir"))
    chosen = repository.setting("lfs.storage")
    return os.path.join(common, os.path.expanduser(chosen) if chosen else "lfs", "objects")


def object_place(storage: str, oid: str) -> str:
    """Where an object lies."""
    return os.path.join(storage, oid[:2], oid[2:4], oid)


def files_of(repository: Repository, commit: str, path: str) -> Found:
    """Every file at `path` of a commit. A blob to be written out has its id as `key`.

    An LFS object that is not there has a place all the same: see `missing`. UsageError when
    the commit has nothing at `path`.
    """
    target = repository.object_at(commit, path)
    if not target:
        raise UsageError(reason=f"no {path!r} in {commit[:12]}")
    kind = repository.kind(target)
    if kind == "tree":
        entries = list(repository.entries(target))
    else:
        entries = [_single(repository, commit, path)]
    findings = [f"{entry.path!r}: a submodule" for entry in entries if entry.mode == MODULE]
    blobs = {entry.path: entry for entry in entries if entry.mode not in (LINK, MODULE)}
    links = [entry for entry in entries if entry.mode == LINK]
    findings += [f"{link.path!r}: a link too long" for link in links if link.size > LINK_BYTES]
    links = [link for link in links if link.size <= LINK_BYTES]
    texts = _read(repository, links)
    followed = follow(blobs, {link.path: os.fsdecode(texts[link.object_id]) for link in links})
    reached = [entry._replace(path=shown) for shown, entry in followed.files.items()]
    files, wrong = _described(repository, [*blobs.values(), *reached])
    return Found(tuple(files), {}, tuple(findings + followed.findings + wrong))


def missing(found: Found) -> list[ForeignFile]:
    """Files whose LFS object is not on this node."""
    return [file for file in found.files if file.location and not os.path.isfile(file.location)]


def fetch_arguments(repository: Repository, commit: str, path: str) -> list[str]:
    """The arguments for git that bring the LFS objects of a path, from the usual remote."""
    remotes = repository.text("remote").split()
    remote = remotes[0] if remotes and "origin" not in remotes else "origin"
    whole = f"{repository.prefix}{path}".rstrip("/")
    included = [f"--include={whole},{whole}/**"] if _PLAIN.fullmatch(whole) else []
    return ["lfs", "fetch", *included, remote, commit]


def can_fetch() -> bool:
    """Whether git-lfs is installed."""
    return shutil.which("git-lfs") is not None


def _single(repository: Repository, commit: str, path: str) -> Entry:
    folder, _, name = path.rpartition("/")
    tree = repository.object_at(commit, folder)
    entries = repository.entries(tree)
    return next(entry for entry in entries if entry.path == name)


def _described(repository: Repository, entries: list[Entry]) -> tuple[list[ForeignFile], list[str]]:
    storage = storage_of(repository)
    small = _read(repository, [entry for entry in entries if entry.size < POINTER_BELOW])
    files, findings = [], []
    for entry in entries:
        try:
            pointer = parse_pointer(small.get(entry.object_id, b""))
        except ValueError as problem:
            findings.append(f"{entry.path!r}: no Git LFS pointer: {problem}")
            continue
        if pointer is None:
            kind = "git-sha1" if len(entry.object_id) == 40 else "git-sha256"
            facts = ("", entry.object_id, entry.size, kind, entry.object_id)
        else:
            place = object_place(storage, pointer.oid)
            facts = (place, "", pointer.size, "sha256", pointer.oid)
        files.append(ForeignFile(entry.path, *facts))
    return files, findings


def _read(repository: Repository, entries: Iterable[Entry]) -> dict[str, bytes]:
    """Small blobs by id."""
    wanted = dict.fromkeys(entry.object_id for entry in entries)
    return {object_id: stream.read(size) for object_id, size, stream in repository.blobs(wanted)}
