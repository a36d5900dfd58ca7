"""pack: a source into packs in the remote, and the placement that says where all of it lies.

One pass over the source. Frames are cut in order, hashed and compressed on `encoders`
threads, assembled in order, and sent by `uploads` threads; whatever the base version holds
already, as a whole small file or as a frame, is referred to and not stored again.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from blake3 import blake3

from stager.errors import ObjectNotFound
from stager.events import Advanced, Began
from stager.model.digest import Digest, digest_of
from stager.model.layout import pack_key
from stager.model.placement import TRUSTED, Frame, Pack, Placement, PlacementBuilder, Slice
from stager.model.records import MAX_FRAME, MIN_FRAME, ends_frame
from stager.model.tree import FileEntry
from stager.packs import source as sources
from stager.packs.assembler import FinishedPack, assemble
from stager.packs.codec import Bytes, Encoded, encode
from stager.packs.source import Source, SourceFile
from stager.storage.store import ObjectStore
from stager.transfer.workers import for_each, in_order
from stager.workspace import Workspace

AHEAD = 4  # frames waiting for their turn beside those being encoded


@dataclass(frozen=True, slots=True)
class Packed:
    """Where a source now lies, and what that cost; bytes."""

    placement: Placement
    bytes_stored: int
    bytes_reused: int  # raw bytes that the remote had already


class RawFrame(NamedTuple):
    """A frame's bytes before coding, and which file gets which part (offset, length)."""

    data: Bytes
    members: list[tuple[int, int, int]]  # file, offset in the frame, length


def pack(workspace: Workspace, source: Source, base: Placement | None) -> Packed:
    """Stores what the base lacks; the complete placement."""
    packing = _Packing(workspace, source, _Base(base))
    workspace.listener(Began("push", source.bytes_raw))
    for_each(packing.packs(), packing.upload, workspace.config.transfer.uploads)
    return packing.finish()


def place(workspace: Workspace, source: Source, base: Placement | None) -> Packed:
    """What `pack` would do, with nothing sent."""
    packing = _Packing(workspace, source, _Base(base))
    for finished in packing.packs():
        packing.count(len(finished.data))
    return packing.finish()


class _Base:
    """What an earlier version offers: whole small files by digest, and frames by digest."""

    def __init__(self, placement: Placement | None) -> None:
        self.placement = placement
        self.frames: dict[bytes, int] = {}
        self.files: dict[Digest, int] = {}
        if placement is not None:
            self.frames = {
                frame.digest: at
                for at, frame in enumerate(placement.frames)
                if frame.codec != TRUSTED
            }
            self.files = {
                entry.digest: at
                for at, entry in enumerate(placement.files)
                if entry.digest.is_proof and entry.size
            }


@dataclass(slots=True)
class _Packing:
    workspace: Workspace
    source: Source
    base: _Base
    builder: PlacementBuilder = field(default_factory=PlacementBuilder)
    stored: int = 0
    reused: int = 0
    _slices: list[list[Slice]] = field(init=False)
    _digests: dict[int, Digest] = field(default_factory=dict)
    _frame_of: dict[bytes, int] = field(default_factory=dict)
    _pending: dict[int, None] = field(default_factory=dict)
    _taken: dict[int, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._slices = [[] for _ in self.source.files]

    def packs(self) -> Iterator[FinishedPack]:
        """Finished packs; each frame in them already has its index in the placement."""
        known = set(self.base.frames)
        encoders = self.workspace.config.transfer.encoders

        def work(raw: RawFrame) -> tuple[Encoded, RawFrame]:
            with self.workspace.meter.spent_on("cpu"):
                return encode(raw.data, known), raw._replace(data=b"")

        coded = in_order(self._raw_frames(), work, encoders, encoders + AHEAD)
        for finished in assemble(self._new(coded)):
            self._settle(finished)
            yield finished

    def upload(self, finished: FinishedPack) -> None:
        """Sends a pack unless the remote has it, as it does when a killed push is repeated."""
        key = pack_key(finished.digest)
        store = self.workspace.remote
        if not _is_there(store, key, len(finished.data)):
            store.put(key, finished.data)
            self.count(len(finished.data))

    def count(self, size: int) -> None:
        """Adds to what this version stores."""
        with self._lock:
            self.stored += size

    def finish(self) -> Packed:
        """The placement, once every pack is where it belongs."""
        for at, file in enumerate(self.source.files):
            entry = FileEntry(file.path, file.size, self._digests[at])
            self.builder.file(entry, self._slices[at])
        return Packed(self.builder.build(), self.stored, self.reused)

    def _raw_frames(self) -> Iterator[RawFrame]:
        group = _Group()
        for at, file in enumerate(self.source.files):
            if not file.is_small:
                yield from self._large(at, file)
                continue
            data = sources.read(file)
            self._digests[at] = digest = digest_of(data)
            self.workspace.listener(Advanced(len(data)))
            if not data or self._from_base(at, digest):
                continue
            if group.size + len(data) > MAX_FRAME:
                yield group.close()
            group.add(at, data)
            if group.ends_after(digest):
                yield group.close()
        if group.size:
            yield group.close()

    def _large(self, at: int, file: SourceFile) -> Iterator[RawFrame]:
        hasher = blake3()
        for data in sources.frames(file):
            hasher.update(data)
            yield RawFrame(data, [(at, 0, len(data))])
            self.workspace.listener(Advanced(len(data)))
        self._digests[at] = Digest(hasher.digest())

    def _from_base(self, at: int, digest: Digest) -> bool:
        file = self.base.files.get(digest)
        if file is None or self.base.placement is None:
            return False
        for piece in self.base.placement.slices_of(file):
            self._slices[at].append(piece._replace(frame=self._take(piece.frame)))
        self.reused += self.source.files[at].size
        return True

    def _new(self, coded: Iterable[tuple[Encoded, RawFrame]]) -> Iterator[Encoded]:
        """Gives every frame its index; passes on those that must be stored."""
        for encoded, raw in coded:
            frame = self._frame_of.get(encoded.digest)
            if frame is None and encoded.digest in self.base.frames:
                frame = self._take(self.base.frames[encoded.digest])
            fresh = frame is None
            if frame is None:
                frame = self.builder.frame(Frame(0, 0, 0, encoded.raw, 0, encoded.digest))
                self._frame_of[encoded.digest] = frame
                self._pending[frame] = None
            else:
                self.reused += encoded.raw
            for file, offset, length in raw.members:
                self._slices[file].append(Slice(frame, offset, length))
            if fresh:
                yield encoded

    def _take(self, base_frame: int) -> int:
        """The index here of a frame of the base."""
        if base_frame not in self._taken:
            assert self.base.placement is not None
            frame = self.base.placement.frames[base_frame]
            number = self.builder.pack(self.base.placement.packs[frame.pack])
            self._taken[base_frame] = self.builder.frame(frame._replace(pack=number))
        return self._taken[base_frame]

    def _settle(self, finished: FinishedPack) -> None:
        """Now that the pack's key is known, its frames get their place."""
        number = self.builder.pack(Pack(pack_key(finished.digest), len(finished.data)))
        waiting = list(self._pending)
        for at, placed in zip(waiting, finished.frames, strict=True):
            del self._pending[at]
            offset, stored, raw, codec, digest = placed
            self.builder.frames[at] = Frame(number, offset, stored, raw, codec, digest)


@dataclass(slots=True)
class _Group:
    """Small files, in path order, on their way into one frame."""

    parts: list[bytes] = field(default_factory=list)
    members: list[tuple[int, int, int]] = field(default_factory=list)
    size: int = 0

    def add(self, file: int, data: bytes) -> None:
        self.members.append((file, self.size, len(data)))
        self.parts.append(data)
        self.size += len(data)

    def ends_after(self, digest: Digest) -> bool:
        """The same rule as for records: a coin thrown by content, after a least size."""
        coin = int.from_bytes(digest.raw[:8], "little")
        return self.size >= MIN_FRAME and ends_frame(coin, self.members[-1][2])

    def close(self) -> RawFrame:
        """The group as a frame; the group is empty again."""
        frame = RawFrame(b"".join(self.parts), self.members)
        self.parts, self.members, self.size = [], [], 0
        return frame


def _is_there(store: ObjectStore, key: str, size: int) -> bool:
    """Packs are named by content and appear whole, so the right size is the right pack."""
    with contextlib.suppress(ObjectNotFound):
        return store.head(key).size == size
    return False
