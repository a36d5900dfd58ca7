"""Frames as they lie in the files of a folder: the inverse of the placement.

Pull writes frames through it, a resumed pull and `verify` read them back. A frame may
serve many files (small ones share it) and, in a version that took records from an older
one, a frame may be used only in part; such a frame cannot be read back whole.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Container, Iterator
from typing import NamedTuple

from blake3 import blake3

from stager.model.placement import TRUSTED, Placement

READ_ONLY = 0o444
IN_WORK = 0o644

Bytes = bytes | bytearray | memoryview


class Use(NamedTuple):
    """Bytes of a frame that stand in a file; offsets and length in bytes."""

    file: int
    file_offset: int
    frame_offset: int
    length: int


class FrameFiles:
    """The files of `placement` below `folder`, but for those at the indexes in `leave`."""

    def __init__(
        self, folder: str, placement: Placement, leave: Container[int] = frozenset()
    ) -> None:
        self.folder = folder
        self.placement = placement
        self.uses: list[list[Use]] = [[] for _ in placement.frames]
        for use, frame in _uses(placement):
            if use.file not in leave:
                self.uses[frame].append(use)

    def location(self, file: int) -> str:
        """Where the file at this index lies."""
        return f"{self.folder}/{self.placement.files[file].path}"

    def write(self, frame: int, raw: Bytes) -> None:
        """Puts a frame's bytes wherever they belong; safe from several threads at once."""
        view = memoryview(raw)
        for use in self.uses[frame]:
            part = view[use.frame_offset : use.frame_offset + use.length]
            if use.length == self.placement.files[use.file].size:
                _write_whole(self.location(use.file), part)
            else:
                _write_at(self.location(use.file), part, use.file_offset)

    def read(self, frame: int) -> bytes | None:
        """The frame's raw bytes from the files, None when they are not all there."""
        wanted = self.placement.frames[frame].raw
        raw = bytearray(wanted)
        covered = 0
        for use in sorted(self.uses[frame], key=lambda use: use.frame_offset):
            if use.frame_offset > covered:
                return None
            if use.frame_offset + use.length <= covered:
                continue  # the same bytes stand in a second file
            part = _read_at(self.location(use.file), use.file_offset, use.length)
            if part is None:
                return None
            raw[use.frame_offset : use.frame_offset + use.length] = part
            covered = use.frame_offset + use.length
        return bytes(raw) if covered == wanted else None

    def is_whole(self, frame: int) -> bool:
        """Whether the files, if they are right, hold every byte of the frame."""
        covered = 0
        for use in sorted(self.uses[frame], key=lambda use: use.frame_offset):
            if use.frame_offset > covered:
                return False
            covered = max(covered, use.frame_offset + use.length)
        return covered == self.placement.frames[frame].raw

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

    def frames_of(self, file: int) -> set[int]:
        """Frames that hold bytes of the file."""
        return {piece.frame for piece in self.placement.slices_of(file)}

    def _repeated(self, frame: int) -> list[Use]:
        """Uses whose bytes `read` took from another file."""
        covered, found = 0, []
        for use in sorted(self.uses[frame], key=lambda use: use.frame_offset):
            if use.frame_offset + use.length <= covered:
                found.append(use)
            covered = max(covered, use.frame_offset + use.length)
        return found


def _uses(placement: Placement) -> Iterator[tuple[Use, int]]:
    frames, offsets, lengths = (
        placement.slice_frame,
        placement.slice_offset,
        placement.slice_length,
    )
    for file in range(len(placement.files)):
        position = 0
        for at in range(placement.first_slice[file], placement.first_slice[file + 1]):
            yield Use(file, position, offsets[at], lengths[at]), frames[at]
            position += lengths[at]


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


def _write_whole(location: str, part: memoryview) -> None:
    _write_out(create(location, READ_ONLY, os.O_TRUNC), part, 0)


def _write_at(location: str, part: memoryview, offset: int) -> None:
    _write_out(create(location, IN_WORK), part, offset)


def _write_out(descriptor: int, part: memoryview, offset: int) -> None:
    try:
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
