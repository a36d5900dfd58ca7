"""A local file or folder as the source of a version.

Links inside the tree are followed and recorded as what they point to; a link that leaves
the tree, a socket, a device, a name that cannot travel: all offenders are named at once
and nothing is read. While reading, a file whose size or times move is reported, and what
another tool promised of its content is checked (`broken_promises` says the outcome).
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from stager.errors import SourceChanged, UsageError, problems
from stager.model import paths
from stager.model.promise import Promise
from stager.model.records import MAX_FRAME, next_cut

SMALL_FILE = 1024 * 1024
READ_BYTES = MAX_FRAME
RECORD_BYTES = 2 * 1024 * 1024  # read at once where records are looked at: stays in the caches


class SourceFile(NamedTuple):
    """A file to push: its path in the version, where it is, and its stat facts."""

    path: str
    location: str
    size: int
    stamp: tuple[int, int, int]  # mtime_ns, ctime_ns, inode
    promise: Promise | None = None

    @property
    def is_small(self) -> bool:
        """Whether it shares frames with other small files."""
        return self.size < SMALL_FILE


@dataclass(frozen=True, slots=True)
class Source:
    """Files in the order of their paths' bytes, and folders that hold nothing."""

    root: str
    files: tuple[SourceFile, ...]
    empty_folders: tuple[str, ...]

    @property
    def bytes_raw(self) -> int:
        """Sum of the file sizes."""
        return sum(file.size for file in self.files)


def scan(path: Path) -> Source:
    """The source at `path`; UsageError when there is none, DataError naming all offenders."""
    if not path.exists():
        raise UsageError(reason=f"{path}: no such file or folder")
    if not path.is_dir():
        return _single(path)
    walk = _Walk(path.resolve())
    facts = os.stat(path)
    walk.visit(str(path), "", ((facts.st_dev, facts.st_ino),))
    findings = walk.findings + paths.offences(sorted(file.path for file in walk.files))
    if findings:
        raise problems(str(path), findings)
    ordered = sorted(walk.files, key=lambda file: file.path.encode())
    return Source(str(path), tuple(ordered), tuple(walk.empty_folders))


def source_file(path: str, location: str, promise: Promise | None = None) -> SourceFile:
    """A regular file that lies anywhere, as `path` of the version; OSError when it does not."""
    return _file(path, location, os.stat(location))._replace(promise=promise)


def _single(path: Path) -> Source:
    facts = os.stat(path)
    findings = paths.offences([path.name])
    if not stat.S_ISREG(facts.st_mode):
        findings.append(f"{path.name!r}: not a regular file (socket, pipe or device)")
    if findings:
        raise problems(str(path), findings)
    return Source(str(path.parent), (_file(path.name, str(path), facts),), ())


def read(file: SourceFile, start: int = 0, length: int | None = None) -> bytes:
    """The whole of a small file or a part of any; SourceChanged when it is not what was scanned."""
    wanted = file.size - start if length is None else length
    descriptor = os.open(file.location, os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = os.pread(descriptor, wanted, start)
        while len(data) < wanted and (part := os.pread(descriptor, wanted, start + len(data))):
            data += part
        _check_unchanged(file, descriptor)
    finally:
        os.close(descriptor)
    return b"".join(_settling(file, [data], wanted))


def frames(file: SourceFile, start: int = 0, length: int | None = None) -> Iterator[memoryview]:
    """The raw frames of a large file or part, in order; SourceChanged when it moves meanwhile."""
    with open(file.location, "rb", buffering=0) as stream:
        stream.seek(start)
        wanted = file.size - start if length is None else length
        yield from cut_stream(_settling(file, _bounded(stream, wanted), wanted))
        _check_unchanged(file, stream.fileno())


def records(file: SourceFile) -> Iterator[bytes]:
    """The file in blocks that end at record ends; SourceChanged when it moves meanwhile."""
    with open(file.location, "rb", buffering=0) as stream:
        read_blocks = _bounded(stream, file.size, RECORD_BYTES)
        yield from record_blocks(_settling(file, read_blocks, file.size))
        _check_unchanged(file, stream.fileno())


def record_blocks(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """A stream in blocks of about its own size that end at record ends.

    A record of more than MAX_FRAME bytes is given in parts.
    """
    held = b""
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if end == 0 and len(held) + len(block) < MAX_FRAME:
            held += block
            continue
        end = end or len(block)
        yield b"".join((held, memoryview(block)[:end]))
        held = block[end:]
    if held:
        yield held


def blocks(stream: io.RawIOBase) -> Iterator[bytes]:
    """What is left of an open file, in blocks of RECORD_BYTES."""
    return iter(lambda: stream.read(RECORD_BYTES) or b"", b"")


def broken_promises(source: Source) -> list[str]:
    """One finding per file whose promise does not hold or was not looked at."""
    promised = ((file.path, file.promise) for file in source.files)
    return [promise.finding(path) for path, promise in promised if promise and not promise.is_kept]


def cut_stream(blocks: Iterable[bytes | memoryview]) -> Iterator[memoryview]:
    """Frames of a stream that comes in blocks of any size."""
    buffer, start = b"", 0
    for block in _large(blocks):
        buffer = b"".join((memoryview(buffer)[start:], *block))
        start = 0
        while len(buffer) - start >= MAX_FRAME:
            end = next_cut(buffer, start, start + MAX_FRAME)
            yield memoryview(buffer)[start:end]
            start = end
    while start < len(buffer):
        end = next_cut(buffer, start, min(len(buffer), start + MAX_FRAME))
        yield memoryview(buffer)[start:end]
        start = end


def _large(blocks: Iterable[bytes | memoryview]) -> Iterator[list[bytes | memoryview]]:
    """Blocks taken together until they are worth a copy."""
    held: list[bytes | memoryview] = []
    size = 0
    for block in blocks:
        held.append(block)
        size += len(block)
        if size >= READ_BYTES:
            yield held
            held, size = [], 0
    yield held


class _Walk:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: list[SourceFile] = []
        self.findings: list[str] = []
        self.empty_folders: list[str] = []

    def visit(self, root: str, prefix: str, above: tuple[tuple[int, int], ...]) -> None:
        """Collects everything below `root`; `above` holds (device, inode) of its parents."""
        pending = [(root, prefix, above)]
        while pending:
            folder, prefix, above = pending.pop()
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
            if not entries and prefix:
                self.empty_folders.append(prefix.rstrip("/"))
            for entry in entries:
                path = prefix + entry.name
                if entry.is_symlink() and not self._inside(entry, path):
                    continue
                facts = entry.stat()
                identity = (facts.st_dev, facts.st_ino)
                if stat.S_ISREG(facts.st_mode):
                    self.files.append(_file(path, entry.path, facts))
                elif not stat.S_ISDIR(facts.st_mode):
                    self.findings.append(f"{path!r}: not a regular file (socket, pipe or device)")
                elif identity in above:
                    self.findings.append(f"{path!r}: a link that leads back to a folder above it")
                else:
                    pending.append((entry.path, path + "/", (*above, identity)))

    def _inside(self, entry: os.DirEntry[str], path: str) -> bool:
        try:
            entry.stat()
        except OSError:  # nothing there, or a link to itself
            self.findings.append(f"{path!r}: a link to nothing")
            return False
        if not Path(entry.path).resolve().is_relative_to(self.root):
            self.findings.append(f"{path!r}: a link that leaves the tree")
            return False
        return True


def _file(path: str, location: str, facts: os.stat_result) -> SourceFile:
    stamp = (facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)
    return SourceFile(path, location, facts.st_size, stamp)


def _settling(file: SourceFile, blocks: Iterable[bytes], length: int) -> Iterator[bytes]:
    """The blocks; what was promised of the file is settled when all of it has passed."""
    if file.promise is None or length != file.size:
        yield from blocks
        return
    hasher = file.promise.hasher(file.size)
    for block in blocks:
        hasher.update(block)
        yield block
    file.promise.settle(hasher)


def _bounded(stream: io.RawIOBase, length: int, size: int = READ_BYTES) -> Iterator[bytes]:
    """The next `length` bytes of a file, or fewer where it ends: its stamp has changed then."""
    while length and (block := stream.read(min(length, size))):
        yield block
        length -= len(block)


def _check_unchanged(file: SourceFile, descriptor: int) -> None:
    facts = os.fstat(descriptor)
    now = (facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)
    if now != file.stamp or facts.st_size != file.size:
        raise SourceChanged(names=file.path, hint="try again when nothing writes to it")
