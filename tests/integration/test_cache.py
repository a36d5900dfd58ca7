"""`stager cache`, the budget, leases and eviction, with real processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import stager as api
from stager.cache.usage import measure
from tests.support import corpus
from tests.support.command import PROGRAM, Stager, contents
from tests.support.processes import LOOPBACK, free_ports

SIZE = 4_000_000
SLACK = 100_000  # folders, placements, receipts


def versions(stager: Stager, tmp_path: Path, count: int) -> dict[str, Path]:
    """So many datasets of SIZE bytes that share nothing, pushed: reference -> source."""
    pushed = {}
    for number in range(count):
        source = tmp_path / f"source{number}"
        source.mkdir()
        corpus.incompressible(source / "train.bin", SIZE, number)
        stager.ok("push", source, f"data{number}")
        pushed[f"data{number}@v1"] = source
    return pushed


def orphan(stager: Stager, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """A command whose parent ends with it, so that its lease is that of a dead process."""
    command = " ".join([*PROGRAM, *arguments])
    return subprocess.run(
        ["bash", "-c", f"{command}; exit $?"],
        env={**stager.variables(), **settings},
        capture_output=True,
        text=True,
        check=False,
    )


def here(stager: Stager) -> list[str]:
    """What is staged."""
    return [row["reference"] for row in stager.json("cache", "ls")]


@pytest.fixture
def three(local: Stager, tmp_path: Path) -> dict[str, Path]:
    """Three versions pulled by processes that are gone, data0 the longest unused."""
    pushed = versions(local, tmp_path, 4)
    for number, reference in enumerate(list(pushed)[:3]):
        assert orphan(local, "pull", reference).returncode == 0
        os.utime(local.path(reference), (number + 1, number + 1))
    return pushed


BUDGET = str(3 * SIZE + SLACK)


def test_T54_the_longest_unused_version_makes_room(local: Stager, three: dict[str, Path]) -> None:
    assert orphan(local, "pull", "data0@v1").returncode == 0  # used now
    done = orphan(local, "pull", "data3@v1", STAGER_BUDGET=BUDGET)
    assert done.returncode == 0, done.stderr
    assert "removed data1@v1" in done.stderr
    assert here(local) == ["data0@v1", "data2@v1", "data3@v1"]
    for reference in here(local):
        assert contents(local.path(reference)) == contents(three[reference])


def test_T54_latest_counts_as_used_too(local: Stager, three: dict[str, Path]) -> None:
    assert orphan(local, "pull", "data0").returncode == 0
    assert orphan(local, "pull", "data3@v1", STAGER_BUDGET=BUDGET).returncode == 0
    assert here(local) == ["data0@v1", "data2@v1", "data3@v1"]


def test_pinned_leased_and_in_use_stay(local: Stager, three: dict[str, Path]) -> None:
    local.ok("cache", "pin", "data0@v1")
    local.ok("pull", "data1@v1")  # by this process, which lives
    with open(local.path("data2@v1") / "train.bin", "rb"):
        result = local.run("pull", "data3@v1", STAGER_BUDGET=BUDGET)
    assert result.code == 41
    assert "4.0 MB needed" in result.stderr and "of a budget of 12.1 MB" in result.stderr
    assert "data0@v1 stays: pinned" in result.stderr
    assert f"data1@v1 stays: leased by process {os.getpid()} (" in result.stderr
    assert f"data2@v1 stays: in use by process {os.getpid()} (" in result.stderr
    assert here(local) == ["data0@v1", "data1@v1", "data2@v1"]
    assert orphan(local, "pull", "data3@v1", STAGER_BUDGET=BUDGET).returncode == 0
    assert here(local) == ["data0@v1", "data1@v1", "data3@v1"]  # data2 is closed


def test_T53_a_version_larger_than_the_budget(local: Stager, three: dict[str, Path]) -> None:
    result = local.run("pull", "data3@v1", "--json", STAGER_BUDGET="1MB")
    assert result.code == 41
    assert "4.0 MB needed, 1.0 MB free" in result.json()["message"]
    assert len(here(local)) == 3
    assert not list((local.cache / "staging").rglob("*.bin"))


def test_T52_a_version_without_a_copy_stays(local: Stager, three: dict[str, Path]) -> None:
    records = local.remote_folder / "datasets"
    (records / "data0" / "versions" / "v1.json").unlink()
    shutil.copy(records / "data3/versions/v1.json", records / "data1/versions/v1.json")
    record = json.loads((records / "data2" / "versions" / "v1.json").read_text())
    (local.remote_folder / record["placement"]["key"]).unlink()
    result = local.run("pull", "data3@v1", STAGER_BUDGET=BUDGET)
    assert result.code == 41
    assert "data0@v1 stays: no copy" in result.stderr
    assert "data1@v1 stays" in result.stderr and "data2@v1 stays: no copy" in result.stderr
    assert len(here(local)) == 3
    for reference in three:
        assert reference == "data3@v1" or local.run("cache", "rm", reference).code == 40
    local.ok("cache", "rm", "data0@v1", "--force")
    assert len(here(local)) == 2


def test_T52_another_tree_in_the_remote_is_no_copy(
    local: Stager, three: dict[str, Path], tmp_path: Path
) -> None:
    """The remote was made anew: data0@v1 is something else there now."""
    shutil.rmtree(local.remote)
    local.ok("push", three["data1@v1"], "data0")
    result = local.run("cache", "rm", "data0@v1")
    assert result.code == 40
    assert "other content" in result.stderr


def test_T52_a_remote_that_does_not_answer_evicts_nothing(on_s3: Stager, tmp_path: Path) -> None:
    pushed = versions(on_s3, tmp_path, 1)
    (reference,) = pushed
    assert orphan(on_s3, "pull", reference).returncode == 0
    (port,) = free_ports(1)
    away = {"AWS_ENDPOINT_URL": f"http://{LOOPBACK}:{port}", "STAGER_ATTEMPTS": "1"}
    result = on_s3.run("cache", "rm", reference, **away)
    assert result.code == 40
    assert "does not say whether it has a copy" in result.stderr
    pruned = on_s3.run("cache", "prune", STAGER_BUDGET="1MB", **away)
    assert pruned.code == 41
    assert here(on_s3) == [reference]
    on_s3.ok("cache", "rm", reference)
    assert here(on_s3) == []


def test_rm_asks_who_needs_it(local: Stager, three: dict[str, Path]) -> None:
    held = subprocess.Popen(["sleep", "60"], cwd=local.path("data0@v1"))
    shell = f"{' '.join(PROGRAM)} pull data1@v1 && exec sleep 60"
    leasing = subprocess.Popen(
        ["bash", "-c", shell], env=local.variables(), stdout=subprocess.PIPE, text=True
    )
    try:
        assert leasing.stdout is not None and leasing.stdout.readline()
        assert "in use by" in local.run("cache", "rm", "data0@v1").stderr
        assert f"leased by process {leasing.pid}" in local.run("cache", "rm", "data1@v1").stderr
        assert local.run("cache", "rm", "data1@v1", "--dry-run").code == 40
        (row,) = [row for row in local.json("cache", "ls") if row["leased"]]
        assert row["leased"] == [f"process {leasing.pid} (sleep)"]
        local.ok("cache", "rm", "data0@v1", "--force")
        local.ok("cache", "pin", "data1@v1")
        assert local.run("cache", "rm", "data1@v1", "--force").code == 40
        local.ok("cache", "unpin", "data1@v1")
    finally:
        for process in (held, leasing):
            process.kill()
            process.wait()
    local.ok("cache", "rm", "data1@v1")  # a dead process leases nothing
    local.ok("pull", "data2@v1")
    local.ok("cache", "rm", "data2@v1")  # who asks is who pulled


@pytest.mark.parametrize("count", [2, 8])
def test_T49_pulls_at_once_stay_within_the_budget_together(
    local: Stager, tmp_path: Path, count: int
) -> None:
    """Allocated bytes are sampled all the while."""
    pushed = versions(local, tmp_path, count)
    budget = int(1.5 * SIZE) if count == 2 else 3 * SIZE + SLACK
    with Sampled(local) as samples:
        settings = {"STAGER_BUDGET": str(budget), "STAGER_CONNECTIONS": "1"}
        running = {one: parallel(local, one, **settings) for one in pushed}
        codes = {one: process.wait(timeout=120) for one, process in running.items()}
    assert len(samples) > 10
    assert max(samples) <= budget
    assert max(samples) > SIZE
    assert set(codes.values()) <= {0, 41}
    assert 0 in codes.values()
    for reference in here(local):
        assert contents(local.path(reference)) == contents(pushed[reference])


def parallel(stager: Stager, reference: str, **settings: str) -> subprocess.Popen[bytes]:
    """A pull whose parent ends with it."""
    return subprocess.Popen(
        ["bash", "-c", f"{' '.join(PROGRAM)} pull {reference}; exit $?"],
        env={**stager.variables(), **settings},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


class Sampled:
    """Bytes that the cache takes, looked at again and again."""

    def __init__(self, stager: Stager) -> None:
        self.folders = stager.workspace().folders
        self.samples: list[int] = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self.over.wait(0.005):
            self.samples.append(measure(self.folders).total)

    def __enter__(self) -> list[int]:
        self.thread.start()
        return self.samples

    def __exit__(self, *problem: object) -> None:
        self.over.set()
        self.thread.join()


def test_a_source_is_not_evicted_for_the_pull_that_reads_it(local: Stager, tmp_path: Path) -> None:
    """data0@v2 takes a file from data0@v1, which is the longest unused."""
    pushed = versions(local, tmp_path, 2)
    for number, reference in enumerate(pushed):
        assert orphan(local, "pull", reference).returncode == 0
        os.utime(local.path(reference), (number + 1, number + 1))
    corpus.incompressible(pushed["data0@v1"] / "more.bin", SIZE, 77)
    local.ok("push", pushed["data0@v1"], "data0")
    done = orphan(local, "pull", "data0@v2", "--json", STAGER_BUDGET=str(int(2.5 * SIZE)))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["bytes_reused"] >= SIZE
    assert here(local) == ["data0@v1", "data0@v2"]  # together no more than v2 alone
    rows = {row["reference"]: row["bytes_unique"] for row in local.json("cache", "ls")}
    assert rows["data0@v1"] < SLACK < SIZE <= rows["data0@v2"] < SIZE + SLACK


def test_prune(local: Stager, three: dict[str, Path]) -> None:
    for path in ("datasets/data0/.v9.removed-1-ab", "staging/.x.removed-1-ab", "staging/blake3-0"):
        (local.cache / path).mkdir()
        (local.cache / path / "x").write_bytes(b"x" * 50_000)
    before = measure(local.workspace().folders).total
    assert "would remove" in local.ok("cache", "prune", "--dry-run").stdout
    assert measure(local.workspace().folders).total == before
    report = local.json("cache", "prune")
    assert sorted(row["kind"] for row in report["removed"]) == ["half removed"] * 2
    assert (local.cache / "staging" / "blake3-0" / "x").exists()
    assert report["bytes_removed"] == before - measure(local.workspace().folders).total
    planned = local.ok("cache", "prune", "--dry-run", STAGER_BUDGET=str(SIZE + SLACK)).stdout
    done = local.ok("cache", "prune", STAGER_BUDGET=str(SIZE + SLACK)).stdout
    assert planned.replace("would remove", "removed") == done
    assert here(local) == ["data2@v1"]
    local.ok("cache", "pin", "data2@v1")
    result = local.run("cache", "prune", STAGER_BUDGET="1MB")
    assert result.code == 41
    assert "data2@v1 stays: pinned" in result.stderr


def test_status(local: Stager, three: dict[str, Path]) -> None:
    local.ok("cache", "pin", "data1@v1")
    local.ok("pull", "data2@v1")
    (local.cache / "staging" / "blake3-0").mkdir()
    (local.cache / "staging" / "blake3-0" / "x").write_bytes(b"x" * 50_000)
    status = local.json("cache")
    assert status["bytes_used"] == measure(local.workspace().folders).total
    assert 3 * SIZE <= status["bytes_versions"] <= 3 * SIZE + SLACK
    assert 50_000 <= status["bytes_staging"] < 60_000
    assert status["leases"] == 1 and status["budget"] == status["promised"] == 0
    pinned, leased = (status["versions"][at] for at in (1, 2))
    assert pinned["pinned"] and not leased["pinned"]
    assert leased["leased"][0].startswith(f"process {os.getpid()}")
    text = local.ok("cache", STAGER_BUDGET="500GB").stdout
    assert "budget 500.0 GB" in text and "data1@v1" in text
    assert local.run("cache", "--json", "ls").code == 2
    assert Stager(local.remote, local.cache / "none").json("cache")["bytes_used"] == 0


def test_a_cache_of_nothing_can_be_pruned(local: Stager) -> None:
    assert local.json("cache", "prune")["removed"] == []


@pytest.fixture
def where(local: Stager, three: dict[str, Path]) -> Iterator[dict[str, object]]:
    """Settings for the Python API."""
    yield {"remote": local.remote, "cache": local.cache, "free_floor": 0}


def test_leases_in_python(local: Stager, where: dict[str, object]) -> None:
    def leased() -> list[str]:
        return [row["reference"] for row in local.json("cache", "ls") if row["leased"]]

    with api.lease("data0@v1", **where) as folder, api.lease("data1", **where):
        assert folder == local.path("data0@v1")
        assert leased() == ["data0@v1", "data1@v1"]
    assert leased() == []
    code = "import stager, sys; stager.pull('data2@v1'); print(1, flush=True); sys.stdin.read()"
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        env=local.variables(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None and child.stdout.readline()
    assert leased() == ["data2@v1"]
    child.kill()
    child.wait()
    assert leased() == []


def test_a_failed_or_placed_pull_leaves_no_lease(
    local: Stager, three: dict[str, Path], tmp_path: Path
) -> None:
    assert local.run("pull", "data0@v9").code == 31
    local.ok("pull", "data0@v1", tmp_path / "placed")
    local.ok("pull", "data3@v1", "--dry-run")
    time.sleep(0.01)
    assert not any(row["leased"] for row in local.json("cache", "ls"))
