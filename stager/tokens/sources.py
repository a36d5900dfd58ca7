"""Which files hold records, what kind each is, and where it may be cut.

A kind is told by the first bytes, not by the name: an array in a `.jsonl` is an array.

    jsonl    one JSON value a line
    json     one array of values, or one value over several lines
    text     one document a line; blank lines are none
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from stager.errors import UsageError, problems
from stager.tokens.values import MalformedArray, elements

SEGMENT_BYTES = 8 << 20
HEAD_BYTES = 1 << 16
BOM = b"\xef\xbb\xbf"
PLAIN = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".txt": "text", ".text": "text"}
SPILLED = (".gz", ".zst", ".parquet")  # unpacked.py writes them out as plain files


class SourceFile(NamedTuple):
    """A file of records: where it lies, how errors call it, and what is in it.

    `path` is what is read, a spill for what was packed. `kind` as in the module's table.
    """

    path: str
    name: str
    kind: str
    size: int


class Segment(NamedTuple):
    """Whole records of one file: those that start at byte `start` or later, before `end`.

    The unit of work, of commits and of one output file.
    """

    number: int
    file: SourceFile
    start: int
    end: int


def find(source: Path) -> list[tuple[str, Path]]:
    """The files of records in a source, by name in byte order, which is the order of rows.

    A name is the path below the source, or the file's own. Files of other endings are left
    alone, a README for one; UsageError when nothing is left.
    """
    if source.is_file():
        return [(source.name, source)]
    found = []
    for folder, folders, names in os.walk(source, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(folder, name)
            if not name.startswith(".") and ending(name) is not None:
                found.append((path.relative_to(source).as_posix(), path))
    if not found:
        known = " ".join([*PLAIN, ".parquet"])
        raise UsageError(reason=f"{source}: no file of records ({known}, also .gz and .zst)")
    return sorted(found, key=lambda entry: os.fsencode(entry[0]))


def ending(name: str) -> str | None:
    """The ending that says what a file holds (`.jsonl`, `.parquet`), below .gz and .zst."""
    stem, suffix = os.path.splitext(name.lower())
    if suffix in (".gz", ".zst"):
        suffix = os.path.splitext(stem)[1]
    return suffix if suffix in PLAIN or suffix == ".parquet" else None


def is_packed(name: str) -> bool:
    """Whether the file must be written out before its records can be read."""
    return name.lower().endswith(SPILLED)


def classified(path: Path, name: str) -> SourceFile:
    """The file and its kind, from its first bytes."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        size = os.fstat(file.fileno()).st_size
    return SourceFile(str(path), name, _kind(name, head), size)


def _kind(name: str, head: bytes) -> str:
    told = PLAIN.get(ending(name) or ".jsonl", "jsonl")
    if told == "text":
        return "text"
    start = head.removeprefix(BOM).lstrip(b" \t\r\n")
    if start.startswith(b"["):
        return "json"
    first = start.partition(b"\n")[0].rstrip()
    several = told == "json" and not first.endswith(b"}")
    return "json" if several and len(start) > len(first) else "jsonl"


def cut(files: Iterable[SourceFile], segment_bytes: int = SEGMENT_BYTES) -> Iterator[Segment]:
    """Segments in the order of rows. They depend on the files alone, never on workers.

    DataError for an array that is not one.
    """
    number = 0
    for file in files:
        bounds = _element_bounds(file, segment_bytes) if file.kind == "json" else None
        if bounds is None:
            bounds = [*range(0, file.size, segment_bytes), file.size] if file.size else []
        for start, end in itertools.pairwise(bounds):
            yield Segment(number, file, start, end)
            number += 1


def _element_bounds(file: SourceFile, segment_bytes: int) -> list[int]:
    bounds: list[int] = []
    end = 0
    with open(file.path, "rb") as opened:
        lead = len(BOM) if opened.read(len(BOM)) == BOM else 0
        opened.seek(lead)
        try:
            for start, end in elements(opened):
                if not bounds or end - bounds[-1] > segment_bytes:
                    bounds.append(start)
        except MalformedArray as problem:
            at = lead + problem.offset
            opened.seek(0)
            where = f"{file.name}:{opened.read(at).count(10) + 1}:{at}"
            raise problems(file.name, [f"{where}: {problem.reason}"]) from problem
    return [lead + bound for bound in [*bounds, end]] if bounds else []


def read(segment: Segment) -> tuple[bytes, int]:
    """A segment's whole records as they are in the file, and the offset of the first byte.

    For lines: those that begin inside the segment, the last one to its end.
    """
    with open(segment.file.path, "rb") as file:
        if segment.file.kind == "json":
            file.seek(segment.start)
            return file.read(segment.end - segment.start), segment.start
        start = segment.start
        if start:
            file.seek(start - 1)
            start += len(file.readline()) - 1
        if start >= segment.end:
            return b"", start
        file.seek(start)
        data = file.read(segment.end - start)
        if not data.endswith(b"\n"):
            data += file.readline()
    if start == 0 and data.startswith(BOM):
        return data[len(BOM) :], len(BOM)
    return data, start
