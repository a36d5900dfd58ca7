"""Frames as they lie in the files of a folder: the inverse of the placement.

Pull writes frames through it, a resumed pull and `verify` read them back. A frame may
serve many files (small ones share it) and, in a version that took records from an older
one, a frame may be used only in part; such a frame cannot be read back whole.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from array import array
from bisect import bisect_right
from collections.abc import Container, Iterator
from itertools import accumulate, groupby
from typing import NamedTuple

from blake3 import blake3

from stager.cache.signature import READ_ONLY
from stager.model.placement import TRUSTED, Placement

IN_WORK = 0o644

Bytes = bytes | bytearray | memoryview


class Use(NamedTuple):
    """Bytes of a frame that stand in a file; offsets and length in bytes."""

    file: int
    file_offset: int
    frame_offset: int
    length: int


class FrameFiles:
    """The files of `placement` below `folder`, but for those at the indexes in `leave`.

    Memory: 12 bytes a slice beside the placement's own.
    """

    def __init__(
        self, folder: str, placement: Placement, leave: Container[int] = frozenset()
    ) -> None:
        self.folder = folder
        self.placement = placement
        self._positions = array("Q", bytes(8 * len(placement.slice_frame)))
        counts = [0] * (len(placement.frames) + 1)
        for at in self._slices(leave):
            counts[placement.slice_frame[at] + 1] += 1
        self._first = list(accumulate(counts))
        self._ordered = array("I", bytes(4 * self._first[-1]))
        place = self._first[:-1]
        for at in self._slices(leave):
            frame = placement.slice_frame[at]
            self._ordered[place[frame]] = at
            place[frame] += 1

    def _slices(self, leave: Container[int]) -> Iterator[int]:
        """Indexes of the slices of all files that are not left alone; notes their positions."""
        first, lengths = self.placement.first_slice, self.placement.slice_length
        for file in range(len(self.placement.files)):
            if file in leave:
                continue
            position = 0
            for at in range(first[file], first[file + 1]):
                self._positions[at] = position
                position += lengths[at]
                yield at

    def location(self, file: int) -> str:
        """Where the file at this index lies."""
        return f"{self.folder}/{self.placement.files[file].path}"

    def uses(self, frame: int) -> list[Use]:
        """Where the frame's bytes stand, in the order of files and of their bytes."""
        placement, found = self.placement, []
        for at in self._ordered[self._first[frame] : self._first[frame + 1]]:
            file = bisect_right(placement.first_slice, at) - 1
            offset, length = placement.slice_offset[at], placement.slice_length[at]
            found.append(Use(file, self._positions[at], offset, length))
        return found

    def bytes_used(self, frame: int) -> int:
        """What the frame takes in the files."""
        return sum(use.length for use in self.uses(frame))

    def write(self, frame: int, raw: Bytes) -> None:
        """Puts a frame's bytes wherever they belong; safe from several threads at once."""
        view = memoryview(raw)
        for file, uses in groupby(self.uses(frame), key=lambda use: use.file):
            parts = [
                (view[use.frame_offset : use.frame_offset + use.length], use.file_offset)
                for use in uses
            ]
            whole = len(parts[0][0]) == self.placement.files[file].size
            mode, flags = (READ_ONLY, os.O_TRUNC) if whole else (IN_WORK, 0)
            _write_out(create(self.location(file), mode, flags), parts)

    def read(self, frame: int) -> bytes | None:
        """The frame's raw bytes from the files, None when they are not all there."""
        wanted = self.placement.frames[frame].raw
        raw = bytearray(wanted)
        covered = 0
        for use in self._by_offset(frame):
            if use.frame_offset > covered:
                return None
            known = covered - use.frame_offset  # the same bytes stand in another place too
            if known >= use.length:
                continue
            part = _read_at(self.location(use.file), use.file_offset + known, use.length - known)
            if part is None:
                return None
            raw[covered : covered + len(part)] = part
            covered += len(part)
        return bytes(raw) if covered == wanted else None

    def is_whole(self, frame: int) -> bool:
        """Whether the files, if they are right, hold every byte of the frame."""
        covered = 0
        for use in self._by_offset(frame):
            if use.frame_offset > covered:
                return False
            covered = max(covered, use.frame_offset + use.length)
        return covered == self.placement.frames[frame].raw

    def used_digest(self, frame: int, raw: Bytes | None = None) -> bytes | None:
        """blake3 of what the files hold of the frame, one use after the other.

        Taken from the frame's own bytes when they are given; None when a file lacks some.
        """
        hasher = blake3()
        for use in self.uses(frame):
            if raw is not None:
                part: Bytes | None = memoryview(raw)[use.frame_offset :][: use.length]
            else:
                part = _read_at(self.location(use.file), use.file_offset, use.length)
            if part is None:
                return None
            hasher.update(part)
        return hasher.digest()

    def sound(self, frame: int) -> bytes | None:
        """The frame's raw bytes from the files, None unless they have its digest."""
        entry = self.placement.frames[frame]
        raw = self.read(frame) if entry.codec != TRUSTED else None
        return raw if raw is not None and blake3(raw).digest() == entry.digest else None

    def is_sound(self, frame: int) -> bool:
        """Whether every copy of the frame's bytes in the files is right."""
        raw = self.sound(frame)
        return raw is not None and all(
            _read_at(self.location(use.file), use.file_offset, use.length)
            == raw[use.frame_offset : use.frame_offset + use.length]
            for use in self._repeated(frame)
        )

    def is_right(self, file: int) -> bool:
        """Whether the file has the digest the version says."""
        entry = self.placement.files[file]
        hasher = blake3(max_threads=blake3.AUTO)
        with contextlib.suppress(OSError):
            hasher.update_mmap(self.location(file))
        return hasher.digest() == entry.digest.raw

    def frames_of(self, file: int) -> set[int]:
        """Frames that hold bytes of the file."""
        return {piece.frame for piece in self.placement.slices_of(file)}

    def _by_offset(self, frame: int) -> list[Use]:
        return sorted(self.uses(frame), key=lambda use: use.frame_offset)

    def _repeated(self, frame: int) -> list[Use]:
        """Uses with bytes that `read` took from another place."""
        covered, found = 0, []
        for use in self._by_offset(frame):
            if use.frame_offset < covered:
                found.append(use)
            covered = max(covered, use.frame_offset + use.length)
        return found


def create(location: str, mode: int, extra_flags: int = 0) -> int:
    """Opens a file to write, made if missing, never through a link that stands in its place."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | extra_flags
    try:
        return os.open(location, flags, mode)
    except IsADirectoryError:
        shutil.rmtree(location)
    except PermissionError:  # an earlier run left it read-only
        os.chmod(location, IN_WORK)
    except OSError as problem:
        if problem.errno not in (errno.ELOOP, errno.ENXIO):  # a link, a pipe
            raise
        os.unlink(location)
    return os.open(location, flags, mode)


def _write_out(descriptor: int, parts: list[tuple[memoryview, int]]) -> None:
    try:
        for part, offset in parts:
            while part:
                count = os.pwrite(descriptor, part, offset)
                part, offset = part[count:], offset + count
    finally:
        os.close(descriptor)


def _read_at(location: str, offset: int, length: int) -> bytes | None:
    try:
        descriptor = os.open(location, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        part = os.pread(descriptor, length, offset)
        return part if len(part) == length else None
    finally:
        os.close(descriptor)
