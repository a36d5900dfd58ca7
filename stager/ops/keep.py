"""keep: a source into the remote as the files it is, for `push --plain`.

Two passes: the first hashes and cuts, which gives the tree and so the folder in the bucket;
the second sends, hashing again, so that what was sent is what was hashed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from blake3 import blake3

from stager.catalog import landed
from stager.catalog.renewal import Renewal
from stager.errors import SourceChanged
from stager.events import Advanced, Began
from stager.model.digest import Digest
from stager.model.layout import plain_key
from stager.model.placement import RAW, Frame, Pack, Placement, PlacementBuilder, Slice
from stager.model.tree import FileEntry, Tree
from stager.ops.pack import Packed
from stager.packs import source as sources
from stager.packs.source import Source, SourceFile
from stager.storage.store import Data
from stager.transfer.options import PROCESSORS
from stager.transfer.workers import for_each, in_order
from stager.workspace import Workspace

Cut = tuple[FileEntry, list[tuple[int, bytes]]]  # the file; length and digest of its frames

SINGLE_PUT = 32 * 1024 * 1024


def keep(workspace: Workspace, name: str, source: Source, dry_run: bool = False) -> Packed:
    """Stores every file of the source under its own name; the placement over them."""
    workspace.listener(Began("hash", source.bytes_raw))

    def cut(file: SourceFile) -> Cut:
        with workspace.meter.spent_on("cpu"):
            return _cut(workspace, file)

    cuts = list(in_order(source.files, cut, PROCESSORS, 2 * PROCESSORS))
    tree = Tree.of(entry for entry, _ in cuts)
    placement = _placement(name, tree, cuts)
    if dry_run:
        return Packed(placement, source.bytes_raw, 0)
    stored: list[int] = []
    digests = {entry.path: entry.digest for entry in tree.files}
    renewal = Renewal(workspace.remote)

    def send(file: SourceFile) -> None:
        key = plain_key(name, tree.digest(), file.path)
        if renewal.is_there(key, file.size):
            workspace.listener(Advanced(file.size))
        else:
            _send(workspace, file, key, digests[file.path])
            stored.append(file.size)

    workspace.listener(Began("push", source.bytes_raw))
    connections = workspace.config.transfer.connections
    for_each(source.files, send, connections)
    for_each(renewal.settled(), renewal.check, connections)
    return Packed(placement, sum(stored), source.bytes_raw - sum(stored))


def placement_of(entries: list[tuple[Cut, Pack]]) -> Placement:
    """Files that lie as they are in objects of their own; empty files need no object."""
    builder = PlacementBuilder()
    for (entry, frames), pack in entries:
        slices = []
        number = builder.pack(pack) if frames else 0
        offset = 0
        for length, digest in frames:
            frame = builder.frame(Frame(number, offset, length, length, RAW, digest))
            slices.append(Slice(frame, 0, length))
            offset += length
        builder.file(entry, slices)
    return builder.build()


def _cut(workspace: Workspace, file: SourceFile) -> Cut:
    hasher = blake3()
    frames = []
    for data in sources.frames(file):
        hasher.update(data)
        frames.append((len(data), blake3(data).digest()))
        workspace.listener(Advanced(len(data)))
    return FileEntry(file.path, file.size, Digest(hasher.digest())), frames


def _placement(name: str, tree: Tree, cuts: list[Cut]) -> Placement:
    digest = tree.digest()
    return placement_of(
        [(cut, Pack(plain_key(name, digest, cut[0].path), cut[0].size)) for cut in cuts]
    )


def _send(workspace: Workspace, file: SourceFile, key: str, digest: Digest) -> None:
    store = workspace.remote
    if file.size <= SINGLE_PUT:
        landed.put(store, key, b"".join(_Parts(workspace, file, digest)))
    else:
        store.put_stream(key, _Parts(workspace, file, digest))


@dataclass(frozen=True, slots=True)
class _Parts:
    """The file's bytes, as often as they are asked for: a broken upload is sent again.

    SourceChanged before the last part is given when they are not those that were hashed.
    """

    workspace: Workspace
    file: SourceFile
    digest: Digest

    def __iter__(self) -> Iterator[Data]:
        hasher = blake3()
        held: Data = b""
        for data in sources.frames(self.file):
            hasher.update(data)
            if held:
                yield held
            held = data
            self.workspace.listener(Advanced(len(data)))
        if hasher.digest() != self.digest.raw:
            raise SourceChanged(names=self.file.path)
        if held:
            yield held
