"""`stager diff --records`: what is shown of differing records, on terminals and in pipes."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from stager.errors import SourceChanged
from stager.ops import diff_records
from stager.ops.diff_records import RecordRequest
from stager.packs.source import scan
from tests.integration.test_diff import change_of
from tests.integration.test_push import make
from tests.support.command import PROGRAM, Stager


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
        diff_records.compare(one, other, RecordRequest())


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
    (first,) = (line for line in shown.splitlines() if "    +1" in line)
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
        found = diff_records.compare(files[0], files[1], RecordRequest(20, "id"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found is not None and found.counts.changed == 3000
    assert peak < 16_000_000  # of 30 MB a side
