"""Versions that cost what changed: record-level deltas through push and pull, as users run them."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Stager, contents


def lines_of(folder: Path) -> list[bytes]:
    """The records of the one file."""
    return (folder / "train.jsonl").read_bytes().splitlines(keepends=True)


def written(folder: Path, lines: list[bytes], name: str = "train.jsonl") -> Path:
    """A folder with a file of these records."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"".join(lines))
    return folder


def share(report: dict[str, Any], figure: str) -> float:
    """A figure of a report as a share of the raw size."""
    return float(report[figure] / report["bytes_raw"])


def test_an_edit_costs_what_changed(stager: Stager, v1: Path, v2: Path) -> None:
    stager.ok("push", v1, "data")
    stager.ok("pull", "data@v1")
    pushed = stager.json("push", v2, "data")
    assert pushed["base"] == "data@v1"
    assert share(pushed, "bytes_transferred") <= 0.005
    pulled = stager.json("pull", "data@v2")
    assert share(pulled, "bytes_transferred") <= 0.006
    assert contents(Path(pulled["path"])) == contents(v2)
    fresh = stager.at(stager.cache.with_name("fresh"))
    assert contents(fresh_path := Path(fresh.json("pull", "data@v2")["path"])) == contents(v2)
    assert {path.stat().st_mode & 0o777 for path in fresh_path.iterdir()} == {0o444}


def test_a_base_that_is_not_here_is_known_by_its_index(stager: Stager, v1: Path, v2: Path) -> None:
    first = stager.json("push", v1, "data")
    assert 0 < share(first, "bytes_index") <= 0.01
    elsewhere = stager.at(stager.cache.with_name("elsewhere"))
    pushed = elsewhere.json("push", v2, "data")
    assert share(pushed, "bytes_transferred") <= 0.005
    assert share(pushed, "bytes_received") <= 0.015
    assert contents(Path(elsewhere.json("pull", "data@v2")["path"])) == contents(v2)


def test_the_index_can_be_turned_off(local: Stager, v1: Path, v2: Path) -> None:
    first = local.json("push", v1, "data", "--no-record-index")
    assert first["bytes_index"] == 0
    assert not (local.remote_folder / "records").exists()
    unknown = local.json("push", v2, "data", "--dry-run")
    assert share(unknown, "bytes_stored") > 0.1, "without an index, frames are all there is"
    local.ok("pull", "data@v1")
    assert share(local.json("push", v2, "data"), "bytes_transferred") <= 0.005


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone"])
def test_T44_a_damaged_index_costs_bytes_and_nothing_else(
    local: Stager, v1: Path, v2: Path, damage: str
) -> None:
    local.ok("push", v1, "data")
    for path in (local.remote_folder / "records").glob("*/*"):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        cases = {"flip": bytes(data), "cut": bytes(data[:-9]), "empty": b""}
        path.write_bytes(cases[damage]) if damage in cases else path.unlink()
    result = local.ok("push", v2, "data", "--json")
    assert ("records will be sent again" in result.stderr) == (damage != "gone")
    assert share(result.json(), "bytes_stored") > 0.1
    assert contents(Path(local.json("pull", "data@v2")["path"])) == contents(v2)


def test_base_may_be_any_version_or_none(local: Stager, v1: Path, v2: Path) -> None:
    local.ok("push", v1, "data")
    local.ok("push", written(v1.with_name("tiny"), lines_of(v1)[:10]), "data")
    assert share(local.json("push", v2, "data", "-n"), "bytes_stored") > 0.1
    chosen = local.json("push", v2, "data", "--base", "data@v1", "-n")
    assert (chosen["base"], share(chosen, "bytes_stored") < 0.005) == ("data@v1", True)
    other = local.json("push", v2, "other", "--base", "data@v1")
    assert share(other, "bytes_transferred") < 0.005
    assert contents(Path(local.json("pull", "other@v1")["path"])) == contents(v2)
    alone = local.json("push", v2, "alone", "--base", "none")
    assert (alone["base"], alone["bytes_reused"]) == ("", 0)
    assert local.run("push", v2, "data", "--base", "data@v9").code == 31


def shuffled(lines: list[bytes]) -> list[bytes]:
    random.Random(3).shuffle(lines)
    return lines


EDITS: dict[str, tuple[Callable[[list[bytes]], list[bytes]], float]] = {
    "append": (lambda lines: lines + [b"%d new " % at + lines[at] for at in range(300)], 0.005),
    "truncate": (lambda lines: lines[: len(lines) // 2], 0.001),
    "sort": (lambda lines: sorted(lines, key=lambda line: line[-12:]), 0.01),
    "shuffle": (shuffled, 0.01),
    "twice": (lambda lines: lines + lines, 0.001),
    "reverse": (lambda lines: lines[::-1], 0.01),
    "crlf": (lambda lines: [line[:-1] + b"\r\n" for line in lines], 1.0),
}


@pytest.mark.parametrize("kind", EDITS)
def test_no_edit_explodes(local: Stager, v1: Path, tmp_path: Path, kind: str) -> None:
    edit, most = EDITS[kind]
    edited = written(tmp_path / "edited", edit(lines_of(v1)))
    stored = local.json("push", v1, "data")["bytes_stored"]
    local.ok("pull", "data@v1")
    pushed = local.json("push", edited, "data")
    assert share(pushed, "bytes_transferred") <= most
    assert share(pushed, "bytes_placement") <= 0.02
    if most < 1:
        assert pushed["bytes_stored"] <= 0.03 * stored
    here = local.json("pull", "data@v2")
    assert contents(Path(here["path"])) == contents(edited)
    fresh = local.at(tmp_path / "fresh")
    assert contents(Path(fresh.json("pull", "data@v2")["path"])) == contents(edited)
    assert fresh.ok("verify", "data@v2", "--in-remote").code == 0


def test_one_of_ten_files_dropped_one_renamed_one_split(local: Stager, v1: Path) -> None:
    lines, source = lines_of(v1), v1.with_name("ten")
    for number in range(10):
        written(source, lines[number::10], f"{number}.jsonl")
    local.ok("push", source, "data")
    (source / "3.jsonl").unlink()
    (source / "4.jsonl").rename(source / "four.jsonl")
    five = (source / "5.jsonl").read_bytes().splitlines(keepends=True)
    written(source, five[:1000], "5a.jsonl")
    written(source, five[1000:], "5b.jsonl")
    (source / "5.jsonl").unlink()
    pushed = local.json("push", source, "data")
    assert pushed["bytes_stored"] == 0
    assert contents(Path(local.json("pull", "data@v2")["path"])) == contents(source)
    shutil.rmtree(source)


def test_many_small_files_of_records_share_them_too(local: Stager, v1: Path) -> None:
    lines, source = lines_of(v1), v1.with_name("small")
    for number in range(100):
        written(source, lines[100 * number : 100 * number + 100], f"{number:03d}.jsonl")
    local.ok("push", source, "data")
    for path in source.iterdir():
        kept = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(
            b"".join([*kept[:50], b'{"new": "%s"}\n' % path.name.encode(), *kept[51:]])
        )
    pushed = local.json("push", source, "data")
    assert share(pushed, "bytes_transferred") < 0.01
    assert contents(Path(local.json("pull", "data@v2")["path"])) == contents(source)
    shutil.rmtree(source)


def test_a_chain_of_versions_stays_worth_pulling(local: Stager, v1: Path, tmp_path: Path) -> None:
    """A quarter of the records changed in each of 8 versions: what is dead is left behind."""
    lines = lines_of(v1)[:8000]
    dice = random.Random(4)
    for version in range(8):
        local.ok("push", written(tmp_path / "source", lines), "data")
        lines = [
            b'{"again": %d}' % version + line if dice.random() < 0.25 else line for line in lines
        ]
    last = contents(tmp_path / "source")
    alone = Stager(str(tmp_path / "once"), tmp_path / "once-cache")
    alone.ok("push", tmp_path / "source", "data")
    least = alone.json("pull", "data@v1")["bytes_transferred"]
    fresh = local.at(tmp_path / "fresh").json("pull", "data@v8")
    assert contents(Path(fresh["path"])) == last
    assert fresh["bytes_transferred"] <= 1.3 * least


def test_two_pushes_at_once_from_one_base(
    stager: Stager, v1: Path, v2: Path, tmp_path: Path
) -> None:
    stager.ok("push", v1, "data")
    other = written(tmp_path / "other", lines_of(v1)[::-1])
    running = [stager.start("push", source, "data") for source in (v2, other)]
    names = {process.communicate(timeout=120)[0].strip() for process in running}
    assert names == {"data@v2", "data@v3"}
    found = [contents(Path(stager.json("pull", name)["path"])) for name in sorted(names)]
    wanted = [contents(v2), contents(other)]
    assert found in (wanted, wanted[::-1])
    for name in names:
        stager.ok("verify", name, "--in-remote")
