"""`stager diff A B`: files by digest, records by hash, and nothing read that need not be."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import shutil
import struct
import subprocess
import termios
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stager.errors import IntegrityError, SourceChanged
from stager.model.digest import digest_of
from stager.ops import record_diff
from stager.ops.borrow import borrow
from stager.ops.record_diff import RecordRequest
from stager.packs.source import scan
from stager.storage.connect import connect
from tests.integration.test_push import make
from tests.support import corpus
from tests.support.command import PROGRAM, Stager

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


def test_limit(local: Stager, tmp_path: Path) -> None:
    one = make(tmp_path / "one", {name: b"".join(b"%d\n" % n for n in range(50)) for name in "ab"})
    other = make(tmp_path / "other", {"a": b"", "b": b""})
    text = local.ok("diff", one, other, "--records").stdout
    assert text.count("\n-") == 40
    assert text.count("... and 30 more; --limit 0 shows all") == 2
    assert local.ok("diff", one, other, "--records", "--limit", "0").stdout.count("\n-") == 100
    assert local.ok("diff", one, other).stdout.count("\n-") == 0


def keyed(tmp_path: Path, before: list[Any], after: list[Any]) -> tuple[Path, Path]:
    """Two files of these records."""
    folder = tmp_path / "keyed"
    folder.mkdir()
    for name, records in (("before.jsonl", before), ("after.jsonl", after)):
        (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder / "before.jsonl", folder / "after.jsonl"


def test_records_of_one_key_are_changed(local: Stager, tmp_path: Path) -> None:
    before = [{"m": {"id": n}, "text": "a", "n": n} for n in range(6)]
    after = [dict(record) for record in before]
    after[1] |= {"text": "b"}
    after[2] |= {"text": "b", "n": -1}
    after[3] = {"m": {"id": 33}, "text": "a", "n": 3}
    after[4] = {"text": "no key"}
    files = keyed(tmp_path, before, [after[5], *after[:5]])
    result = local.ok("diff", *files, "--key", "m.id", "--records", "--json")
    assert "1 differing records hold no 'm.id'" in result.stderr
    report = result.json()
    assert report["records"] == {"removed": 2, "added": 2, "changed": 2, "moved": 1, "same": 1}
    assert report["fields"] == {"text": 2, "n": 1}
    assert report["keyless"] == 1
    rows = [row for row in change_of(report, "after.jsonl")["rows"] if row["kind"] == "changed"]
    assert [(row["key"], row["line_before"], row["line_after"], row["fields"]) for row in rows] == [
        ("1", 2, 3, ["text"]),
        ("2", 3, 4, ["n", "text"]),
    ]
    assert json.loads(rows[0]["before"]) == before[1]
    assert json.loads(rows[0]["after"]) == after[1]


def test_a_key_that_repeats_pairs_the_kth_with_the_kth(local: Stager, tmp_path: Path) -> None:
    before = [{"id": 1, "t": "a"}, {"id": 1, "t": "b"}, {"id": 1, "t": "c"}]
    after = [{"id": 1, "t": "A"}, {"id": 1, "t": "b"}]
    report = local.json("diff", *keyed(tmp_path, before, after), "--key", "id", "--records")
    assert report["records"] == {"removed": 1, "added": 0, "changed": 1, "moved": 0, "same": 1}
    assert [row["line_before"] for row in change_of(report, "after.jsonl")["rows"]] == [1, 3]


def test_a_record_that_is_only_written_differently_is_said_to_be(
    local: Stager, tmp_path: Path
) -> None:
    folder = make(tmp_path / "f", {"a": b'{"id": 1, "x": 2}\n', "b": b'{"x":2,"id":1}\n'})
    text = local.ok("diff", folder / "a", folder / "b", "--key", "id", "--records").stdout
    assert "~1 1 1: written differently, equal in every field\n" in text


def test_nothing_from_a_file_can_command_a_terminal(local: Stager, tmp_path: Path) -> None:
    evil = "\x1b]0;title\x07\u202e\x9b31m"
    one = make(tmp_path / "one", {f"{evil}.txt": b"1\n"})
    other = make(tmp_path / "other", {f"{evil}.txt": evil.encode() + b"\xff\r\n", "x": b"1\n"})
    text = local.ok("diff", one, other, "--records").stdout
    assert text.replace("\n", "").isprintable()
    assert r"\x1b]0;title\x07\u202e\x9b31m\xff\r" in text


def test_long_records_are_cut_and_said_to_be(local: Stager, tmp_path: Path) -> None:
    one = make(tmp_path / "one", {"a": b"x" * 12_000_000 + b"\n"})
    other = make(tmp_path / "other", {"a": b"y" * 100 + b"\n"})
    (row,) = change_of(local.json("diff", one, other, "--records"), "a")["rows"]
    assert len(row["before"]) < 1_100_000
    assert row["before"].endswith("bytes more\n")


def test_a_file_that_changes_meanwhile_is_not_compared(tmp_path: Path) -> None:
    one = scan(make(tmp_path / "one", {"a": b"1\n"})).files[0]
    other = scan(make(tmp_path / "other", {"a": b"2\n"})).files[0]
    make(tmp_path / "other", {"a": b"3\n"})
    with pytest.raises(SourceChanged):
        record_diff.compare(one, other, RecordRequest())


def on_terminal(local: Stager, width: int, *arguments: str | Path, **extra: str) -> str:
    """What a command prints on a terminal of this width."""
    main, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    process = subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        stdin=child,
        stdout=child,
        stderr=subprocess.DEVNULL,
        env={**local.variables(), "TERM": "xterm-256color", **extra},
    )
    os.close(child)
    parts = []
    with contextlib.suppress(OSError):  # a terminal nobody writes to any more
        while part := os.read(main, 65536):
            parts.append(part)
    os.close(main)
    assert process.wait(timeout=60) == 0
    return b"".join(parts).decode().replace("\r\n", "\n")


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Two files of one record that differ behind a long text they share."""
    shared = "同じ" * 300
    folder = make(
        tmp_path / "pair",
        {"a": f'{{"t": "{shared} old"}}\n'.encode(), "b": f'{{"t": "{shared} new"}}\n'.encode()},
    )
    return folder / "a", folder / "b"


def test_a_wide_terminal_has_a_column_for_each_side(local: Stager, pair: tuple[Path, Path]) -> None:
    shown = on_terminal(local, 160, "diff", *pair, "--records", NO_COLOR="1")
    (first,) = (line for line in shown.splitlines() if "-1" in line)
    (last,) = (line for line in shown.splitlines() if "old" in line)
    assert first.index("-1") < first.index("+1")
    assert last.index("old") < last.index("new")
    assert "…" in shown  # what is shared is left out, but for what stands around


def test_a_narrow_terminal_has_one_side_below_the_other(
    local: Stager, pair: tuple[Path, Path]
) -> None:
    shown = on_terminal(local, 80, "diff", *pair, "--records", NO_COLOR="1")
    old, new = (shown.splitlines().index(line) for line in shown.splitlines() if "同じ" in line)
    assert shown.splitlines()[old].startswith("-1 ") and new == old + 1
    assert shown.splitlines()[new].startswith("+1 ")


@pytest.mark.parametrize("width", [80, 160])
def test_colour_is_for_terminals_and_for_those_who_want_it(
    local: Stager, pair: tuple[Path, Path], width: int
) -> None:
    arguments = ("diff", *pair, "--records")
    assert "\x1b[31m" in on_terminal(local, width, *arguments)
    assert "\x1b[3" not in on_terminal(local, width, *arguments, NO_COLOR="1")
    assert "\x1b" not in local.ok(*arguments).stdout


def test_only_records_at_the_same_place_stand_side_by_side(local: Stager, tmp_path: Path) -> None:
    one = make(tmp_path / "one", {"a": b"1\n2\n3\n4\n"})
    other = make(tmp_path / "other", {"a": b"new\n1\n2\n3\n"})
    for pair, kinds in (((one, other), ["added", "removed"]), ((other, one), ["removed", "added"])):
        rows = change_of(local.json("diff", *pair, "--records"), "a")["rows"]
        assert [row["kind"] for row in rows] == kinds


def test_memory_does_not_grow_with_the_texts_that_differ(tmp_path: Path) -> None:
    lines = [b'{"id": %d, "t": "%s"}\n' % (n, b"x" * 10_000) for n in range(3000)]
    other = [line.replace(b"x", b"y") for line in lines]
    folder = make(tmp_path / "f", {"a": b"".join(lines), "b": b"".join(other)})
    files = [scan(folder / name).files[0] for name in "ab"]
    del lines, other
    tracemalloc.start()
    try:
        found = record_diff.compare(files[0], files[1], RecordRequest(20, "id"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found is not None and found.counts.changed == 3000
    assert peak < 16_000_000  # of 30 MB a side
