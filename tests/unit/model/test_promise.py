"""model/promise.py: the digests of other tools, as those tools take them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.model.promise import BLOCK_BYTES, DIGITS, Promise, is_hex
from stager.packs import source
from stager.packs.source import broken_promises, frames, read, records, source_file
from tests.unit.model.test_records import lines

Reader = Callable[[source.SourceFile], Any]


def digest(algorithm: str, parts: Sequence[bytes], expected: str = "") -> str:
    """What a promise sees when the bytes come in these parts."""
    promise = Promise(algorithm, expected)
    hasher = promise.hasher(sum(map(len, parts)))
    for part in parts:
        hasher.update(memoryview(part))
    promise.settle(hasher)
    return promise.actual


def of_dvc(data: bytes) -> str:
    """The digest that DVC itself takes of these bytes for an output of DVC 2."""
    hashes = pytest.importorskip("dvc_data.hashfile.hash")
    return str(hashes.fobj_md5(io.BytesIO(data), name="md5-dos2unix"))


@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [
        ("md5", "5d41402abc4b2a76b9719d911017c592"),
        ("md5-dos2unix", "5d41402abc4b2a76b9719d911017c592"),
        ("sha256", "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"),
        ("git-sha1", "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0"),  # git hash-object
        ("git-sha256", hashlib.sha256(b"blob 5\0hello").hexdigest()),
    ],
)
def test_of_hello(algorithm: str, expected: str) -> None:
    assert digest(algorithm, [b"hello"]) == digest(algorithm, [b"he", b"", b"llo"]) == expected
    assert len(expected) == DIGITS[algorithm]


def test_a_promise_is_kept_only_by_the_bytes_and_only_once_they_were_read() -> None:
    promise = Promise("md5", "5d41402abc4b2a76b9719d911017c592")
    assert not promise.is_kept
    assert "nobody read it" in promise.finding("a")
    hasher = promise.hasher(5)
    hasher.update(b"hello")
    promise.settle(hasher)
    assert promise.is_kept
    again = promise.hasher(5)
    again.update(b"hellO")
    promise.settle(again)
    assert not promise.is_kept
    for word in ("'a'", promise.expected, promise.actual):
        assert word in promise.finding("a")


def test_a_promise_of_nothing_is_not_kept_by_bytes() -> None:
    promise = Promise("sha256", "")
    promise.settle(promise.hasher(0))
    assert not promise.is_kept


pieces = st.sampled_from(
    [b"\r\n", b"\r", b"\n", b"text ", b"\0", "é".encode(), b"\xff\xfe", b"a" * 600]
)


@given(st.lists(pieces, max_size=40).map(b"".join), st.integers(1, 700))
def test_text_of_dvc_2_is_what_dvc_says(data: bytes, step: int) -> None:
    parts = [data[at : at + step] for at in range(0, len(data), step)]
    assert digest("md5-dos2unix", parts) == of_dvc(data)


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_a_line_end_across_two_blocks_stays_as_dvc_left_it(shift: int) -> None:
    data = b"x" * (BLOCK_BYTES - 1 - shift) + b"\r\n" + b"y\r\n" * 1000
    assert digest("md5-dos2unix", [data[:700_000], data[700_000:]]) == of_dvc(data)


@pytest.mark.parametrize(("first", "second"), [(b"t\r\n", b"\0\r\n"), (b"\0\r\n", b"t\r\n")])
def test_a_file_that_is_text_in_part_has_either_digest_that_dvc_gave(
    first: bytes, second: bytes
) -> None:
    data = (first * BLOCK_BYTES)[:BLOCK_BYTES] + second * 1000
    by_block = of_dvc(data)
    whole = (
        data
        if b"\0" in first
        else data[:BLOCK_BYTES].replace(b"\r\n", b"\n") + (second * 1000).replace(b"\r\n", b"\n")
    )
    by_file = hashlib.md5(whole).hexdigest()  # releases before DVC 2.8 asked the first block only
    assert by_file != by_block
    assert digest("md5-dos2unix", [data], by_block) == by_block
    assert digest("md5-dos2unix", [data], by_file) == by_file
    assert digest("md5-dos2unix", [data], "f" * 32) == by_block


@pytest.mark.parametrize("text", ["", "A" * 32, "g" * 32, "a" * 31, "a" * 31 + "\n", None, 5])
def test_what_is_no_digest(text: object) -> None:
    assert not is_hex(text, 32)
    assert is_hex("0123456789abcdef" * 2, 32)


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
