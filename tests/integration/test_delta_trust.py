"""What of a delta may be believed: damaged sources and indexes, collisions, evictions meanwhile."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from stager.cache.frame_files import FrameFiles
from stager.catalog import record_indexes
from stager.model import records
from stager.model.names import parse_reference
from stager.ops import reuse
from stager.ops.pull import PullRequest, pull
from stager.ops.push import PushRequest, push
from tests.integration.test_delta import shuffled, written
from tests.support.command import Stager, contents


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


def test_slices_never_take_more_than_their_share(local: Stager, tmp_path: Path) -> None:
    """Records so short that naming each in another order costs more than 2 % are sent again."""
    dice = random.Random(8)
    lines = [b"%0299d\n" % dice.getrandbits(900) for _ in range(5000)]
    local.ok("push", written(tmp_path / "source", lines), "data")
    local.ok("push", written(tmp_path / "source", shuffled(lines)), "data")
    for version in ("data@v1", "data@v2"):
        facts = local.json("show", version)
        assert 12 * facts["slices"] <= 0.02 * facts["bytes_raw"]
    assert contents(Path(local.json("pull", "data@v2")["path"])) == contents(tmp_path / "source")


def test_T44_an_index_of_other_records_is_told_and_left_out(
    local: Stager, v1: Path, v2: Path
) -> None:
    """One that is in order in itself, but whose units do not make up the frames."""
    local.ok("push", v1, "data")
    for path in (local.remote_folder / "records").glob("*/*"):
        key = f"packs/{path.parent.name}/{path.name}"
        store = local.workspace().remote
        frames = record_indexes.read(store, key)
        shorter = [
            (at, units._replace(lengths=units.lengths[:-1] + units.lengths[:1]))
            for at, units in frames
        ]
        record_indexes.write(store, key, record_indexes.packed(shorter))
    result = local.ok("push", v2, "data", "--json")
    assert "records will be sent again" in result.stderr
    assert contents(Path(local.json("pull", "data@v2")["path"])) == contents(v2)


def test_T52_a_file_that_is_evicted_before_it_is_linked_is_fetched(
    local: Stager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    written(source, [b"stays\n"], "a.jsonl")
    local.ok("push", written(source, [b"old\n"], "b.jsonl"), "data")
    local.ok("push", written(source, [b"new\n"], "b.jsonl"), "data")
    local.ok("pull", "data@v1")

    def gone(origin: str, target: str) -> str:
        raise FileNotFoundError(origin)

    monkeypatch.setattr(reuse, "transfer_file", gone)
    report = pull(local.workspace(), PullRequest(parse_reference("data@v2")))
    assert contents(Path(report.path)) == contents(source)


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
