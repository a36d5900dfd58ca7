"""`stager diff A B`: files by digest, records by hash, and nothing read that need not be."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stager.errors import IntegrityError
from stager.model.digest import digest_of
from stager.ops.borrow import borrow
from stager.storage.connect import connect
from tests.integration.test_push import make
from tests.support import corpus
from tests.support.command import Stager

V1 = {
    "train.jsonl": b"".join(b'{"id": %d, "t": "x"}\n' % n for n in range(100)),
    "same.jsonl": b'{"id": 1}\n',
    "old/name.txt": b"the content stays\n",
    "gone.txt": b"1\n",
    "image.png": b"\x89PNG\0" + bytes(range(200)),
}
RECORDS = V1["train.jsonl"].splitlines(keepends=True)
EDITED = [
    RECORDS[0].replace(b'"x"', b'"y"'),  # line 1: other text
    *RECORDS[2:50],  # line 2 of before is gone
    b'{"id": 1000, "t": "new"}\n',  # line 50
    *RECORDS[51:],  # line 51 of before ...
    RECORDS[50],  # ... is the last one now
]
V2 = {
    "train.jsonl": b"".join(EDITED),
    "same.jsonl": V1["same.jsonl"],
    "new/name.txt": V1["old/name.txt"],
    "come.txt": b"2\n",
    "image.png": b"\x89PNG\0" + bytes(range(100, 200)),
}
COUNTS = {"removed": 2, "added": 2, "changed": 0, "moved": 1, "same": 97}


@pytest.fixture
def stager(request: pytest.FixtureRequest) -> Stager:
    """A local remote, but where a test asks for both kinds."""
    chosen: Stager = request.getfixturevalue(getattr(request, "param", "local"))
    return chosen


both_remotes = pytest.mark.parametrize("stager", ["local", "on_s3"], indirect=True)


@pytest.fixture
def two(stager: Stager, tmp_path: Path) -> tuple[Path, Path]:
    """`data@v1` and `data@v2`, and the folders they were pushed from."""
    one, other = make(tmp_path / "one", V1), make(tmp_path / "other", V2)
    stager.ok("push", one, "data")
    stager.ok("push", other, "data")
    return one, other


def change_of(report: dict[str, Any], path: str) -> dict[str, Any]:
    """What a report says of one file."""
    (found,) = (change for change in report["changes"] if change["path"] == path)
    return dict(found)


def left_in_staging(stager: Stager) -> list[str]:
    """Folders below the staging area."""
    return [path.name for path in (stager.cache / "staging").glob("*")]


def packs_gone(stager: Stager) -> None:
    """Takes the content of a local remote away: whoever reads it fails."""
    shutil.rmtree(stager.remote_folder / "packs")


@both_remotes
@pytest.mark.parametrize("staged", [(), ("data@v1",), ("data@v1", "data@v2")])
def test_versions_differ_alike_wherever_they_are(
    stager: Stager, two: tuple[Path, Path], staged: tuple[str, ...]
) -> None:
    for reference in staged:
        stager.ok("pull", reference)
    report = stager.json("diff", "data@v1", "data", "--records")
    assert report["files"] == {"removed": 1, "added": 1, "changed": 2, "renamed": 1, "same": 1}
    assert report["records"] == COUNTS
    assert change_of(report, "new/name.txt")["path_before"] == "old/name.txt"
    assert change_of(report, "image.png")["records"] is None
    train = change_of(report, "train.jsonl")
    assert train["records"] == COUNTS
    rows = [tuple(row.values())[:5] for row in train["rows"]]
    assert rows == [
        ("replaced", 1, 1, RECORDS[0].decode(), EDITED[0].decode()),
        ("removed", 2, None, RECORDS[1].decode(), None),
        ("added", None, 50, None, EDITED[49].decode()),
        ("moved", 51, 100, RECORDS[50].decode(), RECORDS[50].decode()),
    ]
    kinds = [report[side]["kind"] for side in ("before", "after")]
    assert kinds.count("staged version") == len(staged)
    assert left_in_staging(stager) == []


def test_a_path_is_the_version_that_a_push_of_it_would_make(
    local: Stager, two: tuple[Path, Path]
) -> None:
    one, other = two
    versions = local.json("diff", "data@v1", "data@v2")
    for pair in ((one, other), ("data@v1", other), (one, "data@v2")):
        report = local.json("diff", *pair)
        assert report["changes"] == versions["changes"]
        assert report["records"] == versions["records"]
    assert local.json("diff", one, "data@v1")["changes"] == []


@both_remotes
def test_only_changed_files_are_read(stager: Stager, tmp_path: Path) -> None:
    source = make(tmp_path / "source", {"small.jsonl": b'{"x": 1}\n' * 9})
    corpus.jsonl(source / "large.jsonl", 8_000_000, seed=1)
    stager.ok("push", source, "data")
    make(source, {"small.jsonl": b'{"x": 1}\n' * 8})
    stager.ok("push", source, "data")
    report = stager.json("diff", "data@v1", "data@v2")
    assert report["records"]["removed"] == 1
    assert report["bytes_transferred"] < 100_000


@both_remotes
def test_of_images_and_archives_only_the_beginning_is_fetched(
    stager: Stager, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    corpus.incompressible(source / "archive.bin", 40_000_000, seed=1)
    stager.ok("push", source, "data")
    corpus.incompressible(source / "archive.bin", 40_000_000, seed=2)
    stager.ok("push", source, "data")
    report = stager.json("diff", "data@v1", "data@v2")
    assert change_of(report, "archive.bin")["records"] is None
    assert 0 < report["bytes_transferred"] < 17_000_000
    corpus.incompressible(source / "archive.bin", 1_000_000, seed=3)
    report = stager.json("diff", "data@v1", source)  # what is here says that it is no text
    assert report["bytes_transferred"] < 100_000


def test_a_nul_byte_late_in_a_file_is_no_text_either(local: Stager, tmp_path: Path) -> None:
    one = make(tmp_path / "one", {"a": b"line\n" * 1_000_000 + b"\0"})
    other = make(tmp_path / "other", {"a": b"line\n" * 1_000_000})
    assert change_of(local.json("diff", one, other), "a")["records"] is None


def test_a_staged_version_is_read_in_place(local: Stager, two: tuple[Path, Path]) -> None:
    local.ok("pull", "data@v1")
    local.ok("pull", "data@v2")
    packs_gone(local)
    assert local.json("diff", "data@v1", "data@v2")["records"] == COUNTS


def test_a_staged_version_that_was_edited_is_not_believed(
    local: Stager, two: tuple[Path, Path]
) -> None:
    local.ok("pull", "data@v1")
    victim = local.path("data@v1") / "train.jsonl"
    os.chmod(victim, 0o644)
    victim.write_bytes(b"edited\n")
    report = local.json("diff", "data@v1", "data@v2")
    assert report["records"] == COUNTS
    assert report["before"]["kind"] == "version in the remote"
    assert victim.read_bytes() == b"edited\n"


def test_bytes_that_are_wrong_in_the_remote_are_not_compared(
    local: Stager, two: tuple[Path, Path]
) -> None:
    for pack in (local.remote_folder / "packs").rglob("*"):
        if pack.is_file():
            data = bytearray(pack.read_bytes())
            data[len(data) // 2] ^= 1
            os.chmod(pack, 0o644)
            pack.write_bytes(data)
    result = local.run("diff", "data@v1", "data@v2")
    assert result.code == 21
    assert left_in_staging(local) == []


def test_a_placement_that_lies_about_a_file_is_found_out(
    local: Stager, two: tuple[Path, Path], tmp_path: Path
) -> None:
    placement = local.placement("data@v1")
    at = next(at for at, file in enumerate(placement.files) if file.path == "train.jsonl")
    folder = tmp_path / "borrowed"
    folder.mkdir()
    assert borrow(local.workspace(), placement, [at], folder) == {at}
    files = list(placement.files)
    files[at] = files[at]._replace(digest=digest_of(b"something else"))
    with pytest.raises(IntegrityError, match=r"train\.jsonl"):
        borrow(local.workspace(), replace(placement, files=tuple(files)), [at], folder)


def test_T54_no_room_is_said_before_the_first_byte(local: Stager, two: tuple[Path, Path]) -> None:
    result = local.run("diff", "data@v1", "data@v2", STAGER_FREE_FLOOR=str(2**60))
    assert result.code == 41
    assert left_in_staging(local) == []


@both_remotes
def test_T33_versions_that_nobody_read_cannot_be_compared(stager: Stager, tmp_path: Path) -> None:
    url = f"{stager.remote.removesuffix('/team')}/there"
    store = connect(url, stager.workspace().config.storage)
    store.put("a.jsonl", b'{"x": 1}\n')
    stager.ok("adopt", url, "data", "--no-hash")
    stager.ok("push", make(tmp_path / "two", {"a.jsonl": b'{"x": 2}\n'}), "data")
    result = stager.run("diff", "data@v1", "data@v2")
    assert result.code == 2
    assert "data@v1" in result.stderr and "stager pull" in result.stderr
    stager.ok("pull", "data@v1")
    for side in (stager, stager.at(tmp_path / "another node")):
        assert side.json("diff", "data@v1", "data@v2")["records"]["removed"] == 1


def test_a_dry_run_compares_files_and_says_what_it_would_fetch(
    local: Stager, two: tuple[Path, Path]
) -> None:
    packs_gone(local)
    report = local.json("diff", "data@v1", "data@v2", "--dry-run")
    assert report["files"]["changed"] == 2
    assert report["records"] == dict.fromkeys(COUNTS, 0)
    assert report["bytes_to_fetch"] > 0 and report["dry_run"]
    assert "would fetch" in local.ok("diff", "data@v1", "data@v2", "-n").stdout
    assert not (local.cache / "staging").exists()


def test_two_files_are_compared_whatever_their_names(local: Stager, tmp_path: Path) -> None:
    folder = make(tmp_path / "files", {"old.jsonl": b"1\n2\n", "new.jsonl": b"2\n1\n3\n"})
    report = local.json("diff", folder / "old.jsonl", folder / "new.jsonl")
    assert report["files"]["changed"] == 1
    assert report["records"] == {"removed": 0, "added": 1, "changed": 0, "moved": 1, "same": 1}


def test_a_lost_newline_at_the_end_is_a_difference(local: Stager, tmp_path: Path) -> None:
    one = make(tmp_path / "one", {"a": b"1\n2"})
    other = make(tmp_path / "other", {"a": b"1\n2\n"})
    assert (
        "-2 2  (no newline at its end)\n+2 2\n" in local.ok("diff", one, other, "--records").stdout
    )


def test_empty_files_and_folders(local: Stager, tmp_path: Path) -> None:
    one, other = (
        make(tmp_path / "one", {"a": b"", "b": b"1\n"}),
        make(tmp_path / "o", {"a": b"1\n"}),
    )
    (tmp_path / "nothing").mkdir()
    local.ok("push", one, "data")
    for before in (one, "data@v1"):
        report = local.json("diff", before, other)
        assert (report["files"]["changed"], report["records"]["added"]) == (1, 1)
        assert local.json("diff", before, tmp_path / "nothing")["files"]["removed"] == 2


def test_exit_codes(local: Stager, two: tuple[Path, Path]) -> None:
    one, other = two
    assert local.run("diff", one, other).code == 0
    assert local.run("diff", one, other, "--exit-code").code == 1
    assert local.run("diff", one, one, "--exit-code").code == 0
    assert local.run("diff", one, other, "--limit", "-1").code == 2
    assert local.run("diff", "data@v1", "data@v9").code == 31
    assert local.run("diff", "data@v1", "date").code == 31


def test_every_argument_that_is_neither_is_named(local: Stager, two: tuple[Path, Path]) -> None:
    result = local.run("diff", "./nowhere", "No-Such@")
    assert result.code == 2
    assert "./nowhere" in result.stderr and "No-Such@" in result.stderr


def test_what_an_argument_was_taken_for_is_said(
    local: Stager, two: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))  # this checkout, from there
    monkeypatch.chdir(make(tmp_path / "here", {"data/x": b"1", "data@v1": b"1"}))
    text = local.ok("diff", "data", "data@v1")
    assert text.stdout.startswith("--- data  (path)\n+++ data@v1  (version in the remote)\n")
    assert "./data@v1" in text.stderr
    assert local.json("diff", "./data@v1", "data@v2")["before"]["kind"] == "path"
