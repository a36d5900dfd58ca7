"""The placement: where the bytes of a tree lie.

A file is a list of slices; a slice is a part of a frame; a frame is a span of a pack.

    file    path, size, digest, number of slices
    slice   frame, offset, length             within the frame's raw bytes
    frame   pack, offset, stored, raw, codec, digest   one zstd frame or a raw span
    pack    key, size, etag                   an object: relative to the remote, or a URL

All tables are columns (model/columns.py). Integers index the tables above them. Offsets,
lengths and sizes are bytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, cast

from stager.errors import ManifestInvalid
from stager.model import columns, paths
from stager.model.digest import DIGEST_BYTES, STRONG, WEAK, Digest
from stager.model.tree import FileEntry, Tree

KIND = "placement"
MAX_FRAME_RAW = 8 * 1024 * 1024

RAW = 0  # the span is the bytes
ZSTD = 1  # the span is one zstd frame of the bytes
TRUSTED = 2  # as RAW, but nobody has read it yet: the digest is unknown
CODECS = (RAW, ZSTD, TRUSTED)
TYPES = {
    "pack_key": "str",
    "pack_size": "u64",
    "pack_etag": "str",
    "frame_pack": "u32",
    "frame_offset": "u64",
    "frame_stored": "u32",
    "frame_raw": "u32",
    "frame_codec": "u8",
    "frame_digest": "b32",
    "file_path": "str",
    "file_size": "u64",
    "file_weak": "u8",
    "file_digest": "b32",
    "file_slices": "u32",
    "slice_frame": "u32",
    "slice_offset": "u32",
    "slice_length": "u32",
}

_BROKEN = (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError)


class Pack(NamedTuple):
    """An object that holds frames; `etag` pins it when it is the user's own object."""

    key: str
    size: int
    etag: str = ""


class Frame(NamedTuple):
    """A span of a pack that decodes on its own to `raw` bytes with this blake3."""

    pack: int
    offset: int
    stored: int
    raw: int
    codec: int
    digest: bytes


class Slice(NamedTuple):
    """Part of a frame's raw bytes."""

    frame: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Files, slices, frames and packs of one tree; files in canonical order."""

    packs: tuple[Pack, ...]
    frames: tuple[Frame, ...]
    files: tuple[FileEntry, ...]
    first_slice: array[int]  # of each file, plus one past the last
    slice_frame: array[int]
    slice_offset: array[int]
    slice_length: array[int]

    def slices_of(self, file: int) -> Iterator[Slice]:
        """The slices of the file at this index, in order."""
        for at in range(self.first_slice[file], self.first_slice[file + 1]):
            yield Slice(self.slice_frame[at], self.slice_offset[at], self.slice_length[at])

    def tree(self) -> Tree:
        """What is placed."""
        return Tree(self.files)

    @property
    def bytes_raw(self) -> int:
        """Sum of the file sizes."""
        return sum(entry.size for entry in self.files)

    @property
    def bytes_stored(self) -> int:
        """Bytes of all frames referenced, as they lie in the packs."""
        return sum(frame.stored for frame in self.frames)

    def encode(self) -> bytes:
        """Canonical bytes; equal placements give equal bytes."""
        counts = columns.integers("u32")
        counts.extend(after - before for before, after in pairwise(self.first_slice))
        table: dict[str, columns.Column] = {
            "pack_key": [pack.key for pack in self.packs],
            "pack_size": [pack.size for pack in self.packs],
            "pack_etag": [pack.etag for pack in self.packs],
            "frame_pack": [frame.pack for frame in self.frames],
            "frame_offset": [frame.offset for frame in self.frames],
            "frame_stored": [frame.stored for frame in self.frames],
            "frame_raw": [frame.raw for frame in self.frames],
            "frame_codec": [frame.codec for frame in self.frames],
            "frame_digest": b"".join(frame.digest for frame in self.frames),
            "file_path": [entry.path for entry in self.files],
            "file_size": [entry.size for entry in self.files],
            "file_weak": [not entry.digest.is_proof for entry in self.files],
            "file_digest": b"".join(entry.digest.raw for entry in self.files),
            "file_slices": counts,
            "slice_frame": self.slice_frame,
            "slice_offset": self.slice_offset,
            "slice_length": self.slice_length,
        }
        return columns.encode(KIND, {name: (TYPES[name], table[name]) for name in TYPES})


def decode(data: bytes, where: str) -> Placement:
    """A placement that can be acted on: ManifestInvalid unless every rule holds."""
    table = columns.decode(KIND, data, where, TYPES)
    try:
        placement = _assembled(table)
        _check(placement)
    except _BROKEN as problem:
        raise ManifestInvalid(where=where, kind=KIND, reason=str(problem)) from None
    return placement


def _assembled(table: dict[str, columns.Column]) -> Placement:
    def numbers(name: str) -> array[int]:
        return cast("array[int]", table[name])

    def digests(name: str) -> list[bytes]:
        blob = cast("bytes", table[name])
        return [blob[at : at + DIGEST_BYTES] for at in range(0, len(blob), DIGEST_BYTES)]

    pack_columns = (table["pack_key"], table["pack_size"], table["pack_etag"])
    frame_names = ("frame_pack", "frame_offset", "frame_stored", "frame_raw", "frame_codec")
    frame_columns = [numbers(name) for name in frame_names]
    first = columns.integers("u32", [0])
    total = 0
    for count in numbers("file_slices"):
        total += count
        first.append(total)
    files = tuple(
        FileEntry(str(path), int(size), Digest(raw, WEAK if weak else STRONG))
        for path, size, weak, raw in zip(
            table["file_path"],
            numbers("file_size"),
            numbers("file_weak"),
            digests("file_digest"),
            strict=True,
        )
    )
    if len(first) != len(files) + 1:
        raise ValueError("columns of files differ in length")
    return Placement(
        packs=tuple(map(Pack._make, zip(*pack_columns, strict=True))),
        frames=tuple(map(Frame._make, zip(*frame_columns, digests("frame_digest"), strict=True))),
        files=files,
        first_slice=first,
        slice_frame=numbers("slice_frame"),
        slice_offset=numbers("slice_offset"),
        slice_length=numbers("slice_length"),
    )


def _check(placement: Placement) -> None:
    """ValueError naming the first rule broken by a placement from outside."""
    names = [entry.path for entry in placement.files]
    if (unsafe := paths.first_unsafe(names)) is not None:
        raise ValueError(f"path {unsafe!r} is not safe")
    encoded = [name.encode() for name in names]
    if any(one >= other for one, other in pairwise(encoded)):
        raise ValueError("paths are not in order, or one stands twice")
    if clash := next(paths.file_as_folder(names), None):
        raise ValueError(f"{clash[0]!r} is a file and also a folder")
    for frame in placement.frames:
        pack = placement.packs[frame.pack]
        if frame.codec not in CODECS or not 0 < frame.raw <= MAX_FRAME_RAW:
            raise ValueError(f"frame of {frame.raw} bytes, codec {frame.codec}")
        if not 0 < frame.stored <= frame.raw or frame.offset + frame.stored > pack.size:
            raise ValueError(f"frame outside its pack {pack.key!r}")
        if frame.codec != ZSTD and frame.stored != frame.raw:
            raise ValueError("raw frame whose stored size differs")
    _check_slices(placement)


def _check_slices(placement: Placement) -> None:
    if placement.first_slice[-1] != len(placement.slice_frame):
        raise ValueError("slices that belong to no file")
    raw = [frame.raw for frame in placement.frames]
    columns_of_slices = (
        placement.slice_frame,
        placement.slice_offset,
        placement.slice_length,
    )
    for frame, offset, length in zip(*columns_of_slices, strict=True):
        if length == 0 or offset + length > raw[frame]:
            raise ValueError("slice outside its frame")
    first, lengths = placement.first_slice, placement.slice_length
    for at, entry in enumerate(placement.files):
        if sum(lengths[first[at] : first[at + 1]]) != entry.size:
            raise ValueError(f"slices of {entry.path!r} do not add up to its size")


def _u32() -> array[int]:
    return columns.integers("u32")


@dataclass(slots=True)
class PlacementBuilder:
    """Collects a placement in any order; `build` puts the files into canonical order."""

    packs: list[Pack] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    _files: list[tuple[FileEntry, int, int]] = field(default_factory=list)
    _slice_frame: array[int] = field(default_factory=_u32)
    _slice_offset: array[int] = field(default_factory=_u32)
    _slice_length: array[int] = field(default_factory=_u32)
    _pack_index: dict[Pack, int] = field(default_factory=dict)

    def pack(self, pack: Pack) -> int:
        """The index of `pack`, added when it is new."""
        at = self._pack_index.setdefault(pack, len(self.packs))
        if at == len(self.packs):
            self.packs.append(pack)
        return at

    def frame(self, frame: Frame) -> int:
        """Adds a frame; its index."""
        self.frames.append(frame)
        return len(self.frames) - 1

    def file(self, entry: FileEntry, slices: Iterable[Slice]) -> None:
        """Adds a file made of `slices`."""
        first = len(self._slice_frame)
        for frame, offset, length in slices:
            self._slice_frame.append(frame)
            self._slice_offset.append(offset)
            self._slice_length.append(length)
        self._files.append((entry, first, len(self._slice_frame)))

    def build(self) -> Placement:
        """The finished value; ValueError when a path stands twice."""
        ordered = sorted(self._files, key=lambda item: item[0].path.encode())
        tree = Tree.of(entry for entry, _, _ in ordered)
        first = columns.integers("u32", [0])
        frames, offsets, lengths = _u32(), _u32(), _u32()
        for _, start, stop in ordered:
            frames.extend(self._slice_frame[start:stop])
            offsets.extend(self._slice_offset[start:stop])
            lengths.extend(self._slice_length[start:stop])
            first.append(len(frames))
        return Placement(
            tuple(self.packs), tuple(self.frames), tree.files, first, frames, offsets, lengths
        )
