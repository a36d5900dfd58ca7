"""recall: what the version that a push builds on holds, and how its records are learned.

Staged here and intact, its files are read and proved, and a match is compared byte by
byte. Not staged, the record indexes of its packs are read: about 1 % of the raw size, and
a match is two hashes and lengths that agree. Both give an address space (files one after
the other, or frames) with units at addresses, and turn a span of it into slices.
"""

from __future__ import annotations

import contextlib
import io
import os
from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Protocol

from stager.cache import staged as staged_versions
from stager.cache.frame_files import FrameFiles
from stager.catalog import placements, record_indexes
from stager.errors import IntegrityError, ManifestInvalid, ObjectNotFound
from stager.events import Warned
from stager.model.digest import Digest
from stager.model.layout import PACKS
from stager.model.placement import TRUSTED, Placement, Slice
from stager.model.record_table import Chunk
from stager.model.records import Units, holds_records, units
from stager.model.version import VersionRecord
from stager.packs.source import blocks, record_blocks
from stager.transfer.workers import for_each
from stager.workspace import Workspace

OPEN_FILES = 64
INDEX_SHARE = 100  # an index is about 1 / 100 of the raw bytes it stands for


class Records(Protocol):
    """What can be known of a base's records."""

    def chunks(self, without: Container[int]) -> Iterator[Chunk]:
        """The units, but for those of the base's files at these indexes where that saves work."""
        ...

    def slices(self, address: int, length: int) -> Iterator[Slice]:
        """Where a span of the address space lies."""
        ...

    def same(self, address: int, data: memoryview) -> bool:
        """Whether these bytes stand at the address; True where only hashes can tell."""
        ...

    def address_of(self, file: int) -> int:
        """Where a file of the base begins, or about where."""
        ...


@dataclass(slots=True)
class Base:
    """An earlier version: its placement, what it offers by digest, and its records."""

    placement: Placement
    name: str = ""
    records: Records | None = None
    by_index: bool = False  # something here, or in what it was made from, is known by hashes alone
    frames: dict[bytes, int] = field(init=False)
    files: dict[Digest, int] = field(init=False)
    paths: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        frames, files = self.placement.frames, self.placement.files
        self.frames = {each.digest: at for at, each in enumerate(frames) if each.codec != TRUSTED}
        self.files = {
            each.digest: at for at, each in enumerate(files) if each.digest.is_proof and each.size
        }
        self.paths = {each.path: at for at, each in enumerate(files)}


def recall(workspace: Workspace, record: VersionRecord, bytes_raw: int) -> Base:
    """The base of a push of `bytes_raw` bytes; reads the index only where it can pay."""
    placement, _ = placements.read(workspace.remote, record.placement)
    base = Base(placement, f"{record.name}@{record.version}", by_index=record.is_matched_by_index)
    found = staged_versions.find(workspace.folders, record.name, record.version)
    if found is not None and found.receipt.tree == record.tree and found.is_intact():
        base.records = StagedRecords(placement, str(found.folder))
    elif record.bytes_raw < INDEX_SHARE * bytes_raw:
        indexed = _indexes(workspace, placement)
        if indexed:
            base.records, base.by_index = IndexedRecords(placement, indexed), True
    return base


class StagedRecords:
    """The base's files on this node."""

    def __init__(self, placement: Placement, folder: str) -> None:
        self._placement = placement
        self._folder = folder
        self._starts = list(accumulate((each.size for each in placement.files), initial=0))
        self._slice_starts = list(accumulate(placement.slice_length, initial=0))
        self._open: dict[int, io.FileIO] = {}

    def chunks(self, without: Container[int]) -> Iterator[Chunk]:
        """See Records.chunks; of a file that is not what the remote holds there are none.

        Nor of one that is evicted meanwhile: what is not found here is sent again.
        A file's signature may hold while a bad disk or a careful tool changed it. Slices
        would be taken of the right bytes for the sake of wrong ones.
        """
        files = FrameFiles(self._folder, self._placement, leave=range(len(self._starts)))
        for at, entry in enumerate(self._placement.files):
            if at in without or not entry.size or not files.is_right(at):
                continue
            with contextlib.suppress(OSError):
                yield from self._chunks_of(at)

    def _chunks_of(self, file: int) -> Iterator[Chunk]:
        address = self._starts[file]
        for number, block in enumerate(_blocks(self._location(file))):
            if holds_records(block):
                yield Chunk(address, units(block))
            elif number == 0:
                break
            address += len(block)

    def slices(self, address: int, length: int) -> Iterator[Slice]:
        """See Records.slices."""
        return _pieces(self._placement, self._slice_starts, address, length)

    def same(self, address: int, data: memoryview) -> bool:
        """See Records.same; files that vanished, shrank or grew meanwhile are not the same.

        Data that goes on from one file to the next is compared with each.
        """
        if address + len(data) > self._starts[-1]:
            return False
        while len(data):
            file = bisect_right(self._starts, address) - 1
            here = data[: self._starts[file + 1] - address]
            if not self._stands(file, address - self._starts[file], here):
                return False
            address, data = address + len(here), data[len(here) :]
        return True

    def address_of(self, file: int) -> int:
        """See Records.address_of."""
        return self._starts[file]

    def _location(self, file: int) -> str:
        return f"{self._folder}/{self._placement.files[file].path}"

    def _stands(self, file: int, offset: int, data: memoryview) -> bool:
        with contextlib.suppress(OSError):
            return os.pread(self._opened(file).fileno(), len(data), offset) == bytes(data)
        return False

    def _opened(self, file: int) -> io.FileIO:
        if file not in self._open:
            if len(self._open) == OPEN_FILES:
                self._open.pop(next(iter(self._open))).close()
            self._open[file] = io.FileIO(self._location(file))
        return self._open[file]


class IndexedRecords:
    """The base's frames, known by the indexes of their packs."""

    def __init__(self, placement: Placement, indexed: Mapping[int, Units]) -> None:
        self._placement = placement
        self._indexed = indexed
        self._starts = list(accumulate((each.raw for each in placement.frames), initial=0))

    def chunks(self, without: Container[int]) -> Iterator[Chunk]:
        """See Records.chunks; the index is here already, so nothing is left out."""
        for frame, known in sorted(self._indexed.items()):
            yield Chunk(self._starts[frame], known)

    def slices(self, address: int, length: int) -> Iterator[Slice]:
        """See Records.slices."""
        while length:
            frame = bisect_right(self._starts, address) - 1
            offset = address - self._starts[frame]
            part = min(length, self._placement.frames[frame].raw - offset)
            yield Slice(frame, offset, part)
            address, length = address + part, length - part

    def same(self, address: int, data: memoryview) -> bool:
        """See Records.same."""
        return True

    def address_of(self, file: int) -> int:
        """See Records.address_of: its first frame."""
        first = self._placement.first_slice[file]
        if first == len(self._placement.slice_frame):
            return 0
        return self._starts[self._placement.slice_frame[first]]


def _blocks(location: str) -> Iterator[bytes]:
    with open(location, "rb", buffering=0) as stream:
        yield from record_blocks(blocks(stream))


def _pieces(placement: Placement, starts: list[int], address: int, length: int) -> Iterator[Slice]:
    """Slices under a span of all files one after the other."""
    at = bisect_right(starts, address) - 1
    while length:
        inside = address - starts[at]
        part = min(length, placement.slice_length[at] - inside)
        yield Slice(placement.slice_frame[at], placement.slice_offset[at] + inside, part)
        address, length, at = address + part, length - part, at + 1


def _indexes(workspace: Workspace, placement: Placement) -> dict[int, Units]:
    """Units of the frames whose pack has an index; a bad index is told and left out."""
    frames = {(frame.pack, frame.offset): at for at, frame in enumerate(placement.frames)}
    found: dict[int, Units] = {}

    def look(pack: int) -> None:
        key = placement.packs[pack].key
        try:
            for offset, known in record_indexes.read(workspace.remote, key):
                at = frames.get((pack, offset))
                if at is not None:
                    if sum(known.lengths) != placement.frames[at].raw:
                        raise ManifestInvalid(where=key, kind="record index", reason="other sizes")
                    found[at] = known
        except ObjectNotFound:
            return
        except IntegrityError as problem:
            workspace.listener(Warned(f"{problem}; its records will be sent again"))

    packs = [at for at, pack in enumerate(placement.packs) if pack.key.startswith(PACKS)]
    for_each(packs, look, workspace.config.transfer.connections)
    return found
