"""Typed columns as bytes: the container of placements and of record indexes.

    <header: one line of JSON>\\n<column><column>...

The header is `{"kind": ..., "format": 1, "columns": [[name, type, count, bytes], ...]}`
with sorted keys. Types: `u8 u32 u64` little-endian integers, `b32` 32-byte strings back to
back, `str` UTF-8 strings each ended by a NUL. Equal columns give equal bytes, so the
digest of the container can be its address. Plain arrays keep it readable with the
standard library alone, and loading needs no numpy (0.3 s to import on a slow node).

Columns of one table, those whose names share the word before `_`, have one count. That is
checked before texts are made of bytes, so that a few bytes cannot promise millions of them.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from stager.errors import ManifestInvalid

FORMAT = 1
MAX_HEADER_BYTES = 64 * 1024
TYPECODES = {"u8": "B", "u32": "I", "u64": "Q"}
WIDTHS = {"u8": 1, "u32": 4, "u64": 8, "b32": 32}

Column: TypeAlias = "array[int] | bytes | Sequence[str] | Sequence[int]"


def integers(kind: str, values: Sequence[int] = ()) -> array[int]:
    """An empty or filled integer column of type `u8`, `u32` or `u64`."""
    return array(TYPECODES[kind], values)


def encode(kind: str, columns: Mapping[str, tuple[str, Column]]) -> bytes:
    """The canonical bytes of named columns given as (type, values)."""
    table, blobs = [], []
    for name, (column_type, values) in columns.items():
        blob = _blob(column_type, values)
        width = WIDTHS.get(column_type)
        count = len(blob) // width if width else len(values)
        table.append([name, column_type, count, len(blob)])
        blobs.append(blob)
    header = json.dumps(
        {"columns": table, "format": FORMAT, "kind": kind}, sort_keys=True, separators=(",", ":")
    )
    return b"".join([header.encode(), b"\n", *blobs])


def decode(
    kind: str, data: bytes, where: str, types: Mapping[str, str] | None = None
) -> dict[str, Column]:
    """Columns by name; ManifestInvalid naming `where` when the bytes are not what they say.

    With `types`, the columns must be these, of these types, in this order.
    """
    try:
        return dict(_decoded(kind, memoryview(data), types))
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise ManifestInvalid(where=where, kind=kind, reason=str(problem)) from None


def _decoded(
    kind: str, data: memoryview, types: Mapping[str, str] | None
) -> Iterator[tuple[str, Column]]:
    line, newline, _ = bytes(data[:MAX_HEADER_BYTES]).partition(b"\n")
    if not newline:
        raise ValueError("no header line")
    header = json.loads(line)
    if header["kind"] != kind:
        raise ValueError(f"it is a {header['kind']!r}")
    if header["format"] != FORMAT:
        raise ValueError(f"format {header['format']!r} is newer than this stager reads ({FORMAT})")
    found = [(name, column_type) for name, column_type, _, _ in header["columns"]]
    if len(dict(found)) != len(found) or (types is not None and found != list(types.items())):
        raise ValueError("other columns than expected")
    position = len(line) + 1
    _check_sizes(header["columns"])
    for name, column_type, count, length in header["columns"]:
        blob = bytes(data[position : position + length])
        if len(blob) != length:
            raise ValueError(f"column {name!r} is cut short")
        position += length
        yield str(name), _column(column_type, blob, count, name)
    if position != len(data):
        raise ValueError("bytes after the last column")


def _check_sizes(columns: Sequence[Sequence[object]]) -> None:
    counts: dict[str, int] = {}
    for name, column_type, count, length in columns:
        if not (isinstance(count, int) and isinstance(length, int) and length >= 0):
            raise ValueError(f"column {name!r}: sizes are not numbers")
        if counts.setdefault(str(name).partition("_")[0], count) != count:
            raise ValueError(f"column {name!r} differs in length from others of its table")
        width = WIDTHS.get(str(column_type))
        if width is not None and count * width != length:
            raise ValueError(f"column {name!r}: {count} values do not fill {length} bytes")


def _blob(column_type: str, values: Column) -> bytes:
    if isinstance(values, bytes):
        return values
    if isinstance(values, array):
        return _little_endian(values).tobytes()
    if column_type == "str":
        return "".join(f"{text}\0" for text in values).encode()
    return _little_endian(array(TYPECODES[column_type], [int(value) for value in values])).tobytes()


def _column(column_type: str, blob: bytes, count: int, name: str) -> Column:
    if column_type == "str":
        texts = blob.decode().split("\0")
        if texts.pop() or len(texts) != count:
            raise ValueError(f"column {name!r}: {count} strings promised")
        return texts
    if column_type == "b32":
        return blob
    values = array(TYPECODES[column_type])
    values.frombytes(blob)
    return _little_endian(values)


def _little_endian(values: array[int]) -> array[int]:
    if sys.byteorder == "little":
        return values
    swapped = array(values.typecode, values)
    swapped.byteswap()
    return swapped
