"""pack: a source into packs in the remote, and the placement that says where all of it lies.

What the base holds already (ops/compare.py) is referred to. The rest goes through in one
pass: frames are cut in order, hashed and compressed on `encoders` threads, assembled in
order, and sent by `uploads` threads, each pack after the index of its records.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from blake3 import blake3

from stager.catalog import landed, record_indexes
from stager.catalog.renewal import Renewal
from stager.events import Advanced, Began
from stager.model.digest import Digest, digest_of
from stager.model.layout import pack_key
from stager.model.placement import Frame, Pack, Placement, PlacementBuilder, Slice
from stager.model.records import MAX_FRAME, MIN_FRAME, Units, ends_frame
from stager.model.tree import FileEntry
from stager.ops.compare import NEW, Delta, compare
from stager.ops.recall import Base
from stager.packs import source as sources
from stager.packs.assembler import FinishedPack, assemble
from stager.packs.codec import Bytes, Encoded, encode, record_units
from stager.packs.source import SMALL_FILE, Source, SourceFile
from stager.transfer.workers import for_each, in_order
from stager.workspace import Workspace

AHEAD = 3  # frames waiting for their turn beside those being encoded


class Member(NamedTuple):
    """Part of a frame that belongs to one piece of one file; bytes."""

    file: int
    piece: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Packed:
    """Where a source now lies, and what that cost; bytes."""

    placement: Placement
    bytes_stored: int
    bytes_reused: int  # raw bytes that the remote had already
    bytes_index: int = 0  # of the record indexes


class RawFrame(NamedTuple):
    """A frame's bytes before coding, and which file gets which part (offset, length)."""

    data: Bytes
    members: list[Member]
    units: Units | None = None


def pack(workspace: Workspace, source: Source, base: Base | None) -> Packed:
    """Stores what the base lacks; the complete placement."""
    packing = _Packing(workspace, source, base, compare(workspace, source, base))
    workspace.listener(Began("push", packing.bytes_new()))
    for_each(packing.packs(), packing.upload, workspace.config.transfer.uploads)
    renewal = packing.renewal
    for_each(renewal.settled(), renewal.check, workspace.config.transfer.connections)
    return packing.finish()


def place(workspace: Workspace, source: Source, base: Base | None) -> Packed:
    """What `pack` would do, with nothing sent."""
    packing = _Packing(workspace, source, base, compare(workspace, source, base))
    for finished in packing.packs():
        packing.count(len(finished.data), len(_index(finished)))
    return packing.finish()


@dataclass(slots=True)
class _Packing:
    workspace: Workspace
    source: Source
    base: Base | None
    delta: Delta
    builder: PlacementBuilder = field(default_factory=PlacementBuilder)
    stored: int = 0
    indexed: int = 0
    reused: int = 0
    _slices: dict[tuple[int, int], list[Slice]] = field(default_factory=dict)
    _frame_of: dict[bytes, int] = field(default_factory=dict)
    _pending: dict[int, None] = field(default_factory=dict)
    _taken: dict[int, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    renewal: Renewal = field(init=False)

    def __post_init__(self) -> None:
        self.renewal = Renewal(self.workspace.remote)

    def bytes_new(self) -> int:
        """What the base lacks, raw."""
        return sum(
            length
            for at, file in enumerate(self.source.files)
            for frame, _, length in self.delta.of(at, file.size)
            if frame == NEW
        )

    def packs(self) -> Iterator[FinishedPack]:
        """Finished packs; each frame in them already has its index in the placement."""
        known = set(self.base.frames) if self.base else set()
        encoders = self.workspace.config.transfer.encoders

        def work(raw: RawFrame) -> tuple[Encoded, RawFrame]:
            with self.workspace.meter.spent_on("cpu"):
                encoded = encode(raw.data, known)._replace(units=raw.units)
            return encoded, raw._replace(data=b"")

        frames = self._indexed() if self.workspace.config.record_index else self._raw_frames()
        coded = in_order(frames, work, encoders, encoders + AHEAD)
        for finished in assemble(self._new(coded)):
            self._settle(finished)
            yield finished

    def upload(self, finished: FinishedPack) -> None:
        """Sends a pack unless the remote has it, as it does when a killed push is repeated.

        The index goes first: a pack that is there has its index.
        """
        key = pack_key(finished.digest)
        store = self.workspace.remote
        if self.renewal.is_there(key, len(finished.data)):
            return
        index = _index(finished)
        if index:
            record_indexes.write(store, key, index)
        landed.put(store, key, finished.data)
        self.count(len(finished.data), len(index))

    def count(self, size: int, index: int) -> None:
        """Adds to what this version stores."""
        with self._lock:
            self.stored += size
            self.indexed += index

    def finish(self) -> Packed:
        """The placement, once every pack is where it belongs."""
        for at, file in enumerate(self.source.files):
            digest = self.delta.digests[at] if file.size else digest_of(b"")
            self.builder.file(FileEntry(file.path, file.size, digest), self._placed(at, file))
        return Packed(self.builder.build(), self.stored, self.reused, self.indexed)

    def _placed(self, at: int, file: SourceFile) -> Iterator[Slice]:
        for number, (frame, offset, length) in enumerate(self.delta.of(at, file.size)):
            if frame == NEW:
                yield from self._slices.pop((at, number))
            else:
                self.reused += length
                yield Slice(self._take(frame), offset, length)

    def _indexed(self) -> Iterator[RawFrame]:
        """Frames with their units, which hold the interpreter: beside the coders they would
        make those wait for it."""
        for raw in self._raw_frames():
            lengths = [member.length for member in raw.members]
            yield raw._replace(units=record_units(raw.data, lengths))

    def _raw_frames(self) -> Iterator[RawFrame]:
        group = _Group()
        for at, file in enumerate(self.source.files):
            if not file.size:
                sources.read(file)  # still empty? and what was promised of it is looked at
            for number, (frame, start, length) in enumerate(self.delta.of(at, file.size)):
                if frame != NEW:
                    continue
                self._slices[at, number] = []
                if length >= SMALL_FILE:
                    yield from self._large(at, file, number, (start, length))
                    continue
                data = sources.read(file, start, length)
                self.workspace.listener(Advanced(length))
                digest = digest_of(data)
                if length == file.size:
                    self.delta.digests[at] = digest
                if group.size + length > MAX_FRAME:
                    yield group.close()
                group.add(at, number, data)
                if group.ends_after(digest):
                    yield group.close()
        if group.size:
            yield group.close()

    def _large(
        self, at: int, file: SourceFile, number: int, span: tuple[int, int]
    ) -> Iterator[RawFrame]:
        whole = at not in self.delta.digests
        hasher = blake3()
        for data in sources.frames(file, *span):
            if whole:
                hasher.update(data)
            yield RawFrame(data, [Member(at, number, 0, len(data))])
            self.workspace.listener(Advanced(len(data)))
        if whole:
            self.delta.digests[at] = Digest(hasher.digest())

    def _new(self, coded: Iterable[tuple[Encoded, RawFrame]]) -> Iterator[Encoded]:
        """Gives every frame its index; passes on those that must be stored."""
        for encoded, raw in coded:
            frame = self._frame_of.get(encoded.digest)
            if frame is None and self.base and encoded.digest in self.base.frames:
                frame = self._take(self.base.frames[encoded.digest])
            fresh = frame is None
            if frame is None:
                frame = self.builder.frame(Frame(0, 0, 0, encoded.raw, 0, encoded.digest))
                self._frame_of[encoded.digest] = frame
                self._pending[frame] = None
            else:
                self.reused += encoded.raw
            for file, piece, offset, length in raw.members:
                self._slices[file, piece].append(Slice(frame, offset, length))
            if fresh:
                yield encoded

    def _take(self, base_frame: int) -> int:
        """The index here of a frame of the base."""
        if base_frame not in self._taken:
            assert self.base is not None
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
            offset, stored, raw, codec, digest, _ = placed
            self.builder.frames[at] = Frame(number, offset, stored, raw, codec, digest)


@dataclass(slots=True)
class _Group:
    """Small files and pieces, in path order, on their way into one frame."""

    parts: list[bytes] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    size: int = 0

    def add(self, file: int, piece: int, data: bytes) -> None:
        self.members.append(Member(file, piece, self.size, len(data)))
        self.parts.append(data)
        self.size += len(data)

    def ends_after(self, digest: Digest) -> bool:
        """The same rule as for records: a coin thrown by content, after a least size."""
        coin = int.from_bytes(digest.raw[:8], "little")
        return self.size >= MIN_FRAME and ends_frame(coin, self.members[-1].length)

    def close(self) -> RawFrame:
        """The group as a frame; the group is empty again."""
        frame = RawFrame(b"".join(self.parts), self.members)
        self.parts, self.members, self.size = [], [], 0
        return frame


def _index(finished: FinishedPack) -> bytes:
    return record_indexes.packed(
        [(each.offset, each.units) for each in finished.frames if each.units]
    )
