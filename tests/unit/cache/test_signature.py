"""cache/signature.py: what an edit in place leaves behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stager.cache.signature import cleared_signature, signature_of
from stager.model.receipt import Signature


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Three files, with times a second apart, long ago."""
    for at, name in enumerate(["a", "b/c", "b/d"]):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * (at + 1))
        os.utime(path, (1_000_000 + at, 1_000_000 + at))
    return tmp_path


def test_counts_sizes_and_times(tree: Path) -> None:
    second = 10**9
    wanted = Signature(3, 6, 1_000_000 * second, 1_000_002 * second)
    assert signature_of(tree) == signature_of(str(tree)) == wanted


def test_of_nothing(tmp_path: Path) -> None:
    assert signature_of(tmp_path) == Signature(0, 0, 0, 0)


EDITS: dict[str, Callable[[Path], object]] = {
    "same size": lambda tree: (tree / "b/c").write_bytes(b"yy"),
    "longer": lambda tree: (tree / "a").write_bytes(b"yyyy"),
    "emptied": lambda tree: (tree / "a").write_bytes(b""),
    "deleted": lambda tree: (tree / "a").unlink(),
    "one more": lambda tree: (tree / "new").touch(),
    "one more, empty and old": lambda tree: (
        (tree / "new").touch(),
        os.utime(tree / "new", (1_000_001, 1_000_001)),
    ),
    "replaced by a link": lambda tree: (
        (tree / "a").rename(tree.parent / "moved"),
        os.symlink(tree.parent / "moved", tree / "a"),
    ),
    "older": lambda tree: os.utime(tree / "a", (1, 1)),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_T32_every_edit_changes_it(tree: Path, edit: Callable[[Path], object]) -> None:
    before = signature_of(tree)
    edit(tree)
    assert signature_of(tree) != before


def test_reading_and_listing_change_nothing(tree: Path) -> None:
    before = signature_of(tree)
    (tree / "a").read_bytes()
    os.utime(tree)
    (tree / "empty folder").mkdir()
    assert signature_of(tree) == before


def test_clearing_removes_what_is_not_expected_and_makes_the_rest_read_only(tree: Path) -> None:
    outside = tree.parent / "outside"
    outside.write_bytes(b"precious")
    outside.chmod(0o666)
    (tree / "stranger").write_bytes(b"?")
    (tree / "b" / "link").symlink_to(outside)
    os.mkfifo(tree / "b" / "pipe")
    before = signature_of(tree)
    expected = {"a", "b/c", "b/d", "b/link", "b/pipe", "stran"}
    found = cleared_signature(str(tree), expected)
    assert found == signature_of(tree) != before
    assert (found.files, found.bytes) == (3, 6)
    assert sorted(os.listdir(tree / "b")) == ["c", "d"]
    for name in ("a", "b/c", "b/d"):
        assert os.stat(tree / name).st_mode & 0o777 == 0o444
    assert outside.read_bytes() == b"precious"
    assert os.stat(outside).st_mode & 0o777 == 0o666


def test_clearing_changes_no_time_and_no_file_that_is_read_only(tree: Path) -> None:
    os.chmod(tree / "a", 0o444)
    before = os.stat(tree / "a").st_ctime_ns
    times = signature_of(tree)
    assert cleared_signature(str(tree), {"a", "b/c", "b/d"}) == times
    assert os.stat(tree / "a").st_ctime_ns == before


def test_a_path_expected_as_a_file_but_found_as_a_folder_is_not_one(tree: Path) -> None:
    found = cleared_signature(str(tree), {"b", "a"})
    assert (found.files, found.bytes) == (1, 1)
