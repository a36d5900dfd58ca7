"""Packed sources written out as plain files, so that everything behind reads plain bytes.

    .gz .zst     the bytes, all members and frames of them
    .parquet     one JSON object a row, so row n is line n

A packed file that ends early is an error: half an upload must not pass for a dataset.
"""

from __future__ import annotations

import datetime
import decimal
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from stager.errors import DataError, problems

if TYPE_CHECKING:
    import pyarrow

BLOCK = 1 << 16  # packed bytes at a time: 66 MB of plain ones at most, by deflate's own limit
ROWS = 1024  # of Parquet at a time


def unpack(path: Path, name: str, target: Path) -> None:
    """Writes the plain form of `path` to `target`; DataError names the file and the byte.

    Memory holds a block, or a batch of rows, whatever the size.
    """
    with path.open("rb") as source, target.open("wb") as plain:
        for block in _blocks(source, name):
            plain.write(block)


def _blocks(source: BinaryIO, name: str) -> Iterator[bytes]:
    lower = name.lower()
    if lower.endswith(".gz"):
        return _inflated(source, name, "gzip", lambda: zlib.decompressobj(wbits=31), zlib.error)
    if lower.endswith(".zst"):
        import zstandard

        begun = zstandard.ZstdDecompressor()
        return _inflated(source, name, "zstd", begun.decompressobj, zstandard.ZstdError)
    return _parquet_rows(source, name)


def _inflated(
    source: BinaryIO, name: str, kind: str, begin: Callable[[], Any], broken: type[Exception]
) -> Iterator[bytes]:
    """Members or frames one after another; zeros that pad the end, as tar's, are none."""
    consumed, inflate = 0, None
    try:
        while block := source.read(BLOCK):
            consumed += len(block)
            while block:
                if inflate is None:
                    block = block.lstrip(b"\0")
                    inflate = begin() if block else None
                    continue
                yield inflate.decompress(block)
                block = inflate.unused_data
                inflate = None if inflate.eof else inflate
    except broken as problem:
        raise _broken(name, consumed, f"not {kind}: {problem}") from problem
    if inflate is not None:
        raise _broken(name, consumed, f"the {kind} stream ends early: truncated?")


def _parquet_rows(source: BinaryIO, name: str) -> Iterator[bytes]:
    import orjson
    import pyarrow.parquet

    at = 0
    try:
        for batch in pyarrow.parquet.ParquetFile(source).iter_batches(ROWS):
            yield b"".join(_line(row) for row in _rows(batch))
            at += batch.num_rows
    except (pyarrow.ArrowException, OSError) as problem:
        reason = f"not Parquet: {str(problem).splitlines()[0]}"
        raise problems(name, [f"{name}:{at + 1}: {reason}"]) from problem
    except orjson.JSONEncodeError as problem:
        raise problems(name, [f"{name}: row {at + 1} or later: {problem}"]) from problem


def _rows(batch: pyarrow.RecordBatch) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = batch.to_pylist()
    return rows


def _line(row: dict[str, object]) -> bytes:
    import orjson

    return orjson.dumps(row, default=_plain, option=orjson.OPT_APPEND_NEWLINE)


def _plain(value: object) -> object:
    """Parquet's values that JSON has no word for."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    raise TypeError(f"{type(value).__name__} has no place in a record")


def _broken(name: str, offset: int, reason: str) -> DataError:
    return problems(name, [f"{name}: at byte {offset}: {reason}"])
