"""compare: which bytes of a source the base holds, and which are new.

One pass over the source. A file that the base has under any name is taken whole, by its
digest. In a file of records every run of units that the base holds is taken as slices of
the base's frames; what lies between is new. Three rules keep a version worth reading:

- a file whose slices would take more than SLICES_SHARE of its size is stored whole;
- frames that would be fetched for a small part of their bytes are not referred to: the
  worst are left out, and what they held is stored again, until the dead bytes that a pull
  fetches are at most DEAD_SHARE of the live ones;
- what is new and adjacent becomes one piece.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from blake3 import blake3

from stager.events import Advanced, Began
from stager.model.digest import Digest
from stager.model.record_table import RecordTable
from stager.model.records import holds_records, units
from stager.ops.recall import Base
from stager.packs import source as sources
from stager.packs.source import Source, SourceFile
from stager.workspace import Workspace

SLICES_SHARE = 0.02
SLICE_BYTES = 12  # three u32 columns, before compression
DEAD_SHARE = 0.20
NEW = -1
Piece = tuple[int, int, int]  # frame or NEW, offset, length


@dataclass(slots=True)
class Pieces:
    """A file from front to back: (frame of the base, offset in it, length), or NEW and the
    offset in the file itself."""

    frames: array[int] = field(default_factory=lambda: array("q"))
    offsets: array[int] = field(default_factory=lambda: array("Q"))
    lengths: array[int] = field(default_factory=lambda: array("Q"))

    def add(self, frame: int, offset: int, length: int) -> None:
        """Appends a piece, or lengthens the last one where it goes on."""
        follows = self.frames and self.frames[-1] == frame
        if follows and self.offsets[-1] + self.lengths[-1] == offset:
            self.lengths[-1] += length
            return
        self.frames.append(frame)
        self.offsets.append(offset)
        self.lengths.append(length)

    def __iter__(self) -> Iterator[Piece]:
        return zip(self.frames, self.offsets, self.lengths, strict=True)

    def __len__(self) -> int:
        return len(self.frames)


@dataclass(slots=True)
class Delta:
    """Pieces of every file that shares something with the base; digests as far as known."""

    pieces: dict[int, Pieces] = field(default_factory=dict)
    digests: dict[int, Digest] = field(default_factory=dict)

    def of(self, file: int, size: int) -> Iterable[Piece]:
        """The pieces of a file; one new one where it shares nothing."""
        known = self.pieces.get(file)
        if known is None:
            return ((NEW, 0, size),) if size else ()
        return known


def compare(workspace: Workspace, source: Source, base: Base | None) -> Delta:
    """Reads what may be shared; a source without base is not read at all."""
    comparison = _Comparison(workspace, source, base)
    if base is not None:
        workspace.listener(Began("compare", source.bytes_raw))
        comparison.run(base)
    return comparison.delta


@dataclass(slots=True)
class _Comparison:
    workspace: Workspace
    source: Source
    base: Base | None
    delta: Delta = field(default_factory=Delta)
    table: RecordTable | None = None

    def run(self, base: Base) -> None:
        """Whole files first, so that their records need not be looked for."""
        rest = []
        for at, file in enumerate(self.source.files):
            if self._may_share_records(base, at, file):
                rest.append(at)
        if base.records is not None and rest:
            kept = self._kept(base)
            for at in rest:
                self._compare_records(base, at, kept)
        _leave_sparse_frames(base, self.delta)

    def _may_share_records(self, base: Base, at: int, file: SourceFile) -> bool:
        """False once a file is known to be in the base whole, or to hold no records.

        Hashes small files, and large ones where the base has one of that name and size.
        """
        there = base.paths.get(file.path)
        likely = there is not None and base.placement.files[there].size == file.size
        if not (file.is_small or likely):
            return True
        if not file.size:
            return False
        hasher, records = blake3(), False
        for block in sources.records(file):
            records = records or holds_records(block)
            hasher.update(block)
        digest = self.delta.digests[at] = Digest(hasher.digest())
        same = base.files.get(digest)
        if same is None:
            return records
        pieces = self.delta.pieces[at] = Pieces()
        for piece in base.placement.slices_of(same):
            pieces.add(*piece)
        self.workspace.listener(Advanced(file.size))
        return False

    def _kept(self, base: Base) -> set[int]:
        """Files of the base that the source still has: no record of theirs went elsewhere."""
        digests = set(self.delta.digests.values())
        return {at for at, entry in enumerate(base.placement.files) if entry.digest in digests}

    def _compare_records(self, base: Base, at: int, kept: set[int]) -> None:
        file = self.source.files[at]
        hasher, pieces, position = blake3(), Pieces(), 0
        for block in sources.records(file):
            if position == 0 and not holds_records(block):
                return
            with self.workspace.meter.spent_on("cpu"):
                if position == 0:
                    self._reach(base, file, kept)
                hasher.update(block)
                self._match(base, pieces, position, block)
            position += len(block)
            self.workspace.listener(Advanced(len(block)))
        self.delta.digests[at] = Digest(hasher.digest())
        if pieces.frames.count(NEW) < len(pieces) and _is_worth(pieces, file.size):
            self.delta.pieces[at] = pieces

    def _reach(self, base: Base, file: SourceFile, kept: set[int]) -> None:
        assert base.records is not None
        if self.table is None:
            self.table = RecordTable(base.records.chunks(kept))
        there = base.paths.get(file.path)
        if there is not None:
            self.table.reach(base.records.address_of(there))

    def _match(self, base: Base, pieces: Pieces, position: int, block: bytes) -> None:
        assert self.table is not None and base.records is not None
        view, done = memoryview(block), 0
        if not self.table.is_empty and holds_records(block):
            for begin, address, length in self.table.match(units(block)):
                if not base.records.same(address, view[begin : begin + length]):
                    continue
                if begin > done:
                    pieces.add(NEW, position + done, begin - done)
                for piece in base.records.slices(address, length):
                    pieces.add(*piece)
                done = begin + length
        if done < len(block):
            pieces.add(NEW, position + done, len(block) - done)


def _is_worth(pieces: Pieces, size: int) -> bool:
    return (len(pieces) - 1) * SLICE_BYTES <= SLICES_SHARE * size


def _leave_sparse_frames(base: Base, delta: Delta) -> None:
    """Stores again what lies in frames that are mostly dead."""
    left_out = _sparse(base, delta)
    if not left_out:
        return
    for at, pieces in list(delta.pieces.items()):
        if left_out.isdisjoint(pieces.frames):
            continue
        again, position = Pieces(), 0
        for frame, offset, length in pieces:
            if frame == NEW or frame in left_out:
                again.add(NEW, position, length)
            else:
                again.add(frame, offset, length)
            position += length
        delta.pieces[at] = again


def _sparse(base: Base, delta: Delta) -> set[int]:
    """Frames whose dead bytes bring the whole above DEAD_SHARE, the worst first.

    Stored bytes, a frame's share of them taken by its raw bytes.
    """
    live: dict[int, int] = {}
    for pieces in delta.pieces.values():
        for frame, _, length in pieces:
            if frame != NEW:
                live[frame] = live.get(frame, 0) + length
    frames = base.placement.frames
    shares = {at: min(1.0, used / frames[at].raw) for at, used in live.items()}
    live_bytes = sum(frames[at].stored * share for at, share in shares.items())
    dead = sum(frames[at].stored * (1 - share) for at, share in shares.items())
    left_out: set[int] = set()
    for at in sorted(shares, key=lambda at: (shares[at], at)):
        if dead <= DEAD_SHARE * live_bytes:
            break
        left_out.add(at)
        dead -= frames[at].stored * (1 - shares[at])
    return left_out
