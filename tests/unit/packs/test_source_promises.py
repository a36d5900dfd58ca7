"""What was promised of a source's files is settled while their bytes pass."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stager.model.promise import Promise
from stager.packs import source
from stager.packs.source import broken_promises, frames, read, records, source_file
from tests.unit.model.test_records import lines

Reader = Callable[[source.SourceFile], Any]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with one small file."""
    (tmp_path / "good.jsonl").write_bytes(b"{}\n")
    return tmp_path


@pytest.mark.parametrize("size", [5, 3_000_000])
@pytest.mark.parametrize("reader", [read, frames, records])
def test_a_promise_is_settled_while_the_bytes_pass(tree: Path, reader: Reader, size: int) -> None:
    data = lines(size // 30 + 1)[:size]
    (tree / "x").write_bytes(data)
    for expected, kept in ((hashlib.md5(data).hexdigest(), True), ("0" * 32, False)):
        promise = Promise("md5", expected)
        file = source_file("x", str(tree / "x"), promise)
        promised = source.Source("here", (file,), ())
        assert len(broken_promises(promised)) == 1  # nobody read it yet
        assert b"".join([read(file)] if reader is read else reader(file)) == data
        assert promise.is_kept is kept
        assert len(broken_promises(promised)) == (0 if kept else 1)


def test_a_file_that_was_read_in_part_kept_no_promise(tree: Path) -> None:
    data = lines(1200)
    (tree / "x").write_bytes(data)
    file = source_file("x", str(tree / "x"), Promise("md5", hashlib.md5(data).hexdigest()))
    reading = frames(file)
    next(reading)
    reading.close()
    assert len(broken_promises(source.Source("here", (file,), ()))) == 1


def test_a_file_may_lie_anywhere(tree: Path) -> None:
    file = source_file("in/the/version", str(tree / "good.jsonl"))
    assert (file.path, file.size, read(file)) == ("in/the/version", 3, b"{}\n")
    with pytest.raises(FileNotFoundError):
        source_file("x", str(tree / "gone"))
