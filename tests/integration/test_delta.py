"""Versions that cost what changed: record-level deltas through push and pull, as users run them."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stager.cache.frame_files import FrameFiles
from stager.model import records
from stager.model.names import parse_reference
from stager.ops.push import PushRequest, push
from tests.support import corpus
from tests.support.command import Stager, contents

BYTES = 32 * 1024 * 1024
MOVED = 62  # records deleted and inserted: as 500 are to 256 MB


@pytest.fixture(scope="module")
def v1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one JSONL file."""
    folder = tmp_path_factory.mktemp("v1")
    corpus.jsonl(folder / "train.jsonl", BYTES, seed=1)
    return folder


@pytest.fixture(scope="module")
def v2(v1: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its edit: 1 % of the records changed, some left out, some new."""
    folder = tmp_path_factory.mktemp("v2")
    corpus.edit_jsonl(v1 / "train.jsonl", folder / "train.jsonl", 2, 0.01, MOVED, MOVED)
    return folder


def lines_of(folder: Path) -> list[bytes]:
    """The records of the one file."""
    return (folder / "train.jsonl").read_bytes().splitlines(keepends=True)


def written(folder: Path, lines: list[bytes], name: str = "train.jsonl") -> Path:
    """A folder with a file of these records."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"".join(lines))
    return folder


def edit_in_place(path: Path) -> None:
    """Changes one byte in the middle of a staged file and hides it: size and times stay."""
    facts = os.stat(path)
    os.chmod(path, 0o644)
    with path.open("r+b") as file:
        file.seek(facts.st_size // 2)
        byte = file.read(1)
        file.seek(facts.st_size // 2)
        file.write(bytes([byte[0] ^ 1]))
    os.chmod(path, 0o444)
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


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


def test_T05_an_edited_source_of_spans_costs_a_fetch_and_never_spreads(
    local: Stager, v1: Path, v2: Path
) -> None:
    local.ok("push", v1, "data")
    local.ok("pull", "data@v1")
    local.ok("push", v2, "data")
    edit_in_place(local.path("data@v1") / "train.jsonl")
    result = local.ok("pull", "data@v2")
    assert "not right when put together; fetching again" in result.stderr
    assert contents(Path(result.stdout.strip())) == contents(v2)


def test_T52_a_base_that_is_evicted_meanwhile_costs_bytes_and_nothing_else(
    local: Stager, v1: Path, v2: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local.ok("push", v1, "data")
    local.ok("pull", "data@v1")
    gone = local.path("data@v1") / "train.jsonl"
    proved = FrameFiles.is_right

    def proved_and_gone(files: FrameFiles, file: int) -> bool:
        right = proved(files, file)
        gone.unlink()
        return right

    monkeypatch.setattr(FrameFiles, "is_right", proved_and_gone)
    report = push(local.workspace(), PushRequest(v2, parse_reference("data")))
    assert report.bytes_stored > 0.1 * report.bytes_raw
    fresh = local.at(local.cache.with_name("fresh"))
    assert contents(Path(fresh.json("pull", "data@v2")["path"])) == contents(v2)


def test_an_index_is_there_before_its_pack(local: Stager, v1: Path) -> None:
    """A push that is killed in between and repeated finds the pack, and would write none."""
    local.ok("push", v1, "data")
    packs = sorted((local.remote_folder / "packs").glob("*/*"))
    assert len(packs) > 1
    for pack in packs:
        index = local.remote_folder / "records" / pack.parent.name / pack.name
        assert index.stat().st_mtime_ns <= pack.stat().st_mtime_ns


@pytest.fixture
def weak_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes of 8 bits: records of equal length that differ are often taken for each other."""
    strong = records.xxh3_64_intdigest
    monkeypatch.setattr(records, "xxh3_64_intdigest", lambda data: strong(data) & 0xFF)


@pytest.mark.usefixtures("weak_hashes")
@pytest.mark.parametrize("staged", [True, False])
def test_a_collision_of_hashes_never_gives_other_bytes(
    local: Stager, tmp_path: Path, staged: bool
) -> None:
    """With the base here bytes are compared; without, pull refuses what does not add up."""
    dice = random.Random(6)
    old, new = ([b"%0500d\n" % dice.getrandbits(99) for _ in range(4000)] for _ in range(2))
    reference = parse_reference("data")
    for source in (written(tmp_path / "old", old), written(tmp_path / "new", old[:2000] + new)):
        push(local.workspace(), PushRequest(source, reference))
        if staged:
            local.ok("pull", "data@v1")
    result = local.run("pull", "data@v2")
    if staged:
        assert contents(Path(result.stdout.strip())) == contents(tmp_path / "new")
    else:
        assert result.code == 20
        assert "train.jsonl: its frames do not make its digest" in result.stderr
        assert local.run("path", "data@v2").code != 0


@pytest.mark.usefixtures("weak_hashes")
def test_a_collision_that_makes_every_frame_whole_is_found_too(
    local: Stager, tmp_path: Path
) -> None:
    """The index says that nothing changed; so does every version built on that one."""
    dice = random.Random(7)
    old = [b"%0500d\n" % dice.getrandbits(99) for _ in range(4000)]
    wanted = records.xxh3_64_intdigest(old[2000])
    twins = (b"%0500d\n" % dice.getrandbits(99) for _ in range(100_000))
    new = list(old)
    new[2000] = next(twin for twin in twins if records.xxh3_64_intdigest(twin) == wanted)
    source, reference = tmp_path / "source", parse_reference("data")
    for lines in (old, new, new):
        push(local.workspace(), PushRequest(written(source, lines), reference))
        written(source, [b"%d\n" % len(list(source.iterdir()))], f"{os.urandom(4).hex()}.txt")
    for version in ("data@v2", "data@v3"):
        result = local.run("pull", version)
        assert result.code == 20
        assert "train.jsonl: its frames do not make its digest" in result.stderr


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
