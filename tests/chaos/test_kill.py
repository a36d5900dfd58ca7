"""kill -9 at random moments: never a version that lies, and the next run completes.

T02 T03 T06: what was verified on disk is not fetched again. T04: no path of half a version.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from stager.model.placement import Placement
from tests.support import corpus
from tests.support.command import Stager, contents
from tests.support.moments import Moments

MOMENTS = 30
BYTES = 48_000_000
FRAME_GAP = 128 * 1024  # transfer/ranges.py reads through gaps up to this size


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One large JSONL file and some hundred small files."""
    folder = tmp_path_factory.mktemp("source")
    corpus.jsonl(folder / "train.jsonl", BYTES, seed=1)
    corpus.small_files(folder / "images", 400, 2000, 20_000, seed=2)
    return folder


@pytest.fixture(scope="module")
def expected(source: Path) -> dict[str, bytes]:
    """What every pull of it must bring."""
    return contents(source)


@pytest.mark.parametrize("kind", ["local", "on_s3"])
def test_T02_kill_of_pull(
    kind: str, request: pytest.FixtureRequest, source: Path, expected: dict[str, bytes]
) -> None:
    stager: Stager = request.getfixturevalue(kind)
    stager.ok("push", source, "data")
    placement = stager.placement("data@v1")
    whole = _seconds(stager.at(stager.cache.with_name("first")), "pull", "data@v1")
    moments = Moments(7, whole, 0.3)
    for number in range(MOMENTS // 2):
        node = stager.at(stager.cache.with_name(f"node{number}"))
        process = node.start("pull", "data@v1", STAGER_CONNECTIONS="2")
        time.sleep(moments.next())
        process.kill()
        process.communicate()
        killed_late = _check_path(node, expected)
        kept = _kept(node, placement, expected)
        report = node.json("pull", "data@v1")
        assert contents(Path(report["path"])) == expected
        moments.hit(not killed_late)
        if not killed_late:
            missing = placement.bytes_stored - kept
            slack = 64 * 1024 + FRAME_GAP * 16
            assert report["bytes_transferred"] <= missing + slack
    moments.require(MOMENTS // 6)


@pytest.mark.parametrize("kind", ["local", "on_s3"])
def test_T50_kill_of_push(
    kind: str,
    request: pytest.FixtureRequest,
    source: Path,
    expected: dict[str, bytes],
    tmp_path: Path,
) -> None:
    stager: Stager = request.getfixturevalue(kind)
    whole = _seconds(stager, "push", source, "timing")
    moments = Moments(8, whole, 0.2)
    for number in range(MOMENTS // 2):
        name = f"data{number}"
        killed = Stager(f"{stager.remote}{number}", stager.cache, stager.environment)
        process = killed.start("push", source, name)
        time.sleep(moments.next())
        process.kill()
        process.communicate()
        log = killed.run("log", name, "--json")
        moments.hit(log.code != 0)
        if log.code == 0:
            assert killed.ok("verify", f"{name}@v1", "--in-remote").code == 0
        else:
            assert log.code == 31
        killed.ok("push", source, name)
        assert len(killed.json("log", name)) == 1
        node = killed.at(tmp_path / f"pulled{number}")
        assert contents(Path(node.json("pull", f"{name}@v1")["path"])) == expected
    moments.require(MOMENTS // 6)


def test_a_killed_push_finds_the_packs_it_had_sent(local: Stager, source: Path) -> None:
    process = local.start("push", source, "data", STAGER_UPLOADS="1")
    packs = local.remote_folder / "packs"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not list(packs.glob("*/[0-9a-f]*")):
        time.sleep(0.005)
    process.kill()
    process.communicate()
    there = sum(path.stat().st_size for path in packs.glob("*/[0-9a-f]*"))
    assert there > 0
    report = local.json("push", source, "data")
    stored = local.placement("data@v1").bytes_stored
    assert report["bytes_stored"] <= stored - there


@pytest.fixture(scope="module")
def edited(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source with one record in fifty changed: most frames of the first version live on."""
    folder = tmp_path_factory.mktemp("edited")
    corpus.edit_jsonl(source / "train.jsonl", folder / "train.jsonl", 3, 0.02, 100, 100)
    shutil.copytree(source / "images", folder / "images")
    return folder


@pytest.mark.parametrize("staged", [False, True], ids=["fresh", "with the base"])
@pytest.mark.parametrize("kind", ["local", "on_s3"])
def test_T02_kill_of_a_pull_of_parts_of_frames(
    kind: str, request: pytest.FixtureRequest, source: Path, edited: Path, staged: bool
) -> None:
    stager: Stager = request.getfixturevalue(kind)
    stager.ok("push", source, "data", "--base", "none")
    stager.ok("push", edited, "data")
    expected, placement = contents(edited), stager.placement("data@v2")

    def node(name: str) -> Stager:
        fresh = stager.at(stager.cache.with_name(name))
        if staged:
            fresh.ok("pull", "data@v1")
        return fresh

    whole = _seconds(node("first"), "pull", "data@v2")
    moments = Moments(9, whole, 0.3)
    for number in range(MOMENTS // 3):
        killed = node(f"node{number}")
        process = killed.start("pull", "data@v2", STAGER_CONNECTIONS="2")
        time.sleep(moments.next())
        process.kill()
        process.communicate()
        killed_late = killed.run("path", "data@v2").code == 0
        moments.hit(not killed_late)
        if killed_late:
            assert contents(killed.path("data@v2")) == expected
            continue
        missing = placement.bytes_stored - _kept(killed, placement, expected)
        report = killed.json("pull", "data@v2")
        assert contents(Path(report["path"])) == expected
        in_flight = 2 * max(frame.stored for frame in placement.frames)
        if not staged:
            slack = 64 * 1024 + FRAME_GAP * 16 + in_flight + placement_bytes(stager)
            assert report["bytes_transferred"] <= missing + slack
    moments.require(MOMENTS // 10)


@pytest.mark.parametrize("kind", ["local", "on_s3"])
def test_T50_kill_of_a_push_of_a_delta(
    kind: str, request: pytest.FixtureRequest, source: Path, edited: Path
) -> None:
    stager: Stager = request.getfixturevalue(kind)
    stager.ok("push", source, "data")
    whole = _seconds(stager, "push", edited, "timing", "--base", "data@v1")
    moments = Moments(10, whole, 0.2)
    for number in range(MOMENTS // 3):
        name = f"data{number}"
        process = stager.start("push", edited, name, "--base", "data@v1")
        time.sleep(moments.next())
        process.kill()
        process.communicate()
        log = stager.run("log", name, "--json")
        assert log.code in (0, 31)
        moments.hit(log.code != 0)
        stager.ok("push", edited, name, "--base", "data@v1")
        assert len(stager.json("log", name)) == 1
    stager.ok("verify", "data@v1", "--in-remote")
    for number in range(MOMENTS // 3):
        stager.ok("verify", f"data{number}@v1", "--in-remote")
    assert contents(Path(stager.json("pull", "data0@v1")["path"])) == contents(edited)
    moments.require(MOMENTS // 10)


def placement_bytes(stager: Stager) -> int:
    """Stored size of the placement of data@v2."""
    return int(stager.json("show", "data@v2")["placement"]["stored"])


def _seconds(stager: Stager, *arguments: str | Path) -> float:
    began = time.perf_counter()
    stager.ok(*arguments)
    return time.perf_counter() - began


def _check_path(node: Stager, expected: dict[str, bytes]) -> bool:
    """Either no path, or the path of the whole version; whether there is one."""
    result = node.run("path", "data@v1")
    if result.code == 0:
        assert contents(Path(result.stdout.strip())) == expected
        return True
    assert result.code == 40
    assert result.stdout == ""
    return False


def _kept(node: Stager, placement: Placement, expected: dict[str, bytes]) -> int:
    """Stored bytes of the frames that the killed run left right, by our own comparison."""
    staging = next((node.cache / "staging").glob("*"), None)
    if staging is None:
        return 0
    left = contents(staging)
    wrong: set[int] = set()
    for at, entry in enumerate(placement.files):
        offset = 0
        for piece in placement.slices_of(at):
            part = slice(offset, offset + piece.length)
            if left.get(entry.path, b"")[part] != expected[entry.path][part]:
                wrong.add(piece.frame)
            offset += piece.length
    right = (frame for at, frame in enumerate(placement.frames) if at not in wrong)
    return sum(frame.stored for frame in right)
