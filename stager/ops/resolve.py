"""resolve: what is compared, a version or a path, as files by digest.

A path stands for the version that a push of it would make. A version that is staged here and
intact is used in place; of any other only its placement is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from blake3 import blake3

from stager.cache.leases import Lessee
from stager.cache.staged import Staged
from stager.catalog import placements, versions
from stager.errors import IntegrityError, UsageError
from stager.events import Advanced, Began, Noted
from stager.model.digest import Digest
from stager.model.names import Reference, parse_reference
from stager.model.placement import Placement
from stager.model.tree import FileEntry
from stager.ops.pull import ready
from stager.packs import source as sources
from stager.packs.source import SourceFile
from stager.transfer.options import PROCESSORS
from stager.transfer.workers import for_each
from stager.workspace import Workspace

PATH = "path"
STAGED = "staged version"
REMOTE = "version in the remote"


@dataclass(slots=True)
class Side:
    """Files by digest, and the folder they lie in; it is empty while they lie in the remote."""

    name: str
    kind: str
    files: tuple[FileEntry, ...]
    folder: str = ""
    placement: Placement | None = None  # of a version in the remote
    _scanned: dict[str, SourceFile] = field(default_factory=dict)

    def file(self, path: str) -> SourceFile:
        """A file to read: as it was when a path was scanned, as it is now in a version."""
        if path not in self._scanned:
            self._scanned[path] = sources.scan(Path(f"{self.folder}/{path}")).files[0]
        return self._scanned[path]


class _Meant(NamedTuple):
    text: str
    path: Path | None
    reference: Reference | None


def sides(workspace: Workspace, before: str, after: str, lessee: Lessee) -> tuple[Side, Side]:
    """Both sides; UsageError names every argument that is neither path nor reference.

    A staged version is leased to `lessee`, so that it stays while it is read.

    Also when a version was adopted by ETag and never read: nothing proves its files equal to
    any others.
    """
    meant = _meant(workspace, (before, after))
    found = [_side(workspace, each, lessee) for each in meant]
    unread = [side.name for side in found if not all(file.digest.is_proof for file in side.files)]
    if unread:
        names = " and ".join(dict.fromkeys(unread))
        reason = f"{names}: adopted by ETag and never read, so its files cannot be compared"
        raise UsageError(reason=reason, hint="`stager pull` finds the digests, once for everybody")
    return found[0], found[1]


def _meant(workspace: Workspace, texts: tuple[str, str]) -> list[_Meant]:
    """Which argument is a path: one that begins like a path, or exists and has no `@`."""
    found: list[_Meant] = []
    wrong: list[str] = []
    for text in texts:
        exists = Path(text).exists()
        if text.startswith((".", "/")) or (exists and "@" not in text):
            found.append(_Meant(text, Path(text), None))
            if not exists:
                wrong.append(f"{text}: no such file or folder")
            continue
        try:
            found.append(_Meant(text, None, parse_reference(text)))
        except UsageError as problem:
            wrong.append(f"{text}: no such file or folder, and {problem}")
        if exists:
            note = f"{text}: taken as a version; write ./{text} for the file or folder"
            workspace.listener(Noted(note))
    if wrong:
        raise UsageError(reason="\n".join(dict.fromkeys(wrong)))
    return found


def _side(workspace: Workspace, meant: _Meant, lessee: Lessee) -> Side:
    if meant.path is not None:
        return _path(workspace, meant.text, meant.path)
    assert meant.reference is not None
    if found := ready(workspace, meant.reference, lessee):
        return _staged(workspace, found)
    record = versions.resolve(workspace.remote, meant.reference)
    found = ready(workspace, Reference(record.name, record.version), lessee)
    if found and (found.receipt.tree == record.tree or not record.is_hashed):
        return _staged(workspace, found)
    placement, _ = placements.read(workspace.remote, record.placement)
    if str(placement.tree().digest()) != record.tree:
        reason = "is the placement of another tree"
        raise IntegrityError(where=record.placement.key, reason=reason)
    name = f"{record.name}@{record.version}"
    return Side(name, REMOTE, placement.files, placement=placement)


def _staged(workspace: Workspace, found: Staged) -> Side:
    path = workspace.folders.placement(found.receipt.name, found.receipt.version)
    placement = placements.unpack(path.read_bytes(), found.receipt.placement)
    return Side(found.reference, STAGED, placement.files, str(found.folder))


def _path(workspace: Workspace, text: str, path: Path) -> Side:
    source = sources.scan(path)
    digests: dict[str, Digest] = {}
    workspace.listener(Began("hash", source.bytes_raw))

    def look(file: SourceFile) -> None:
        hasher = blake3()
        for block in sources.records(file):
            hasher.update(block)
        digests[file.path] = Digest(hasher.digest())
        workspace.listener(Advanced(file.size))

    with workspace.meter.spent_on("cpu"):
        for_each(source.files, look, PROCESSORS)
    files = tuple(FileEntry(file.path, file.size, digests[file.path]) for file in source.files)
    return Side(text, PATH, files, source.root, _scanned={file.path: file for file in source.files})
