"""kill -9 in the middle of evictions: a version is whole or not there, nothing lies.

T52: nothing that the remote cannot give again is lost. T54: what is left is cleared, and
the next pull has its room.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from pathlib import Path

import pytest

from stager.cache.usage import measure
from tests.chaos.test_disk import small_disk
from tests.support import corpus
from tests.support.command import PROGRAM, Stager, contents
from tests.support.moments import Moments

__all__ = ["small_disk"]

KILLS = 25
FILES = 300


@pytest.fixture
def pushed(local: Stager, tmp_path: Path) -> dict[str, dict[str, bytes]]:
    """Four versions of many small files that share nothing; what each holds."""
    expected = {}
    for number in range(4):
        source = tmp_path / f"source{number}"
        corpus.small_files(source, FILES, 2000, 20_000, seed=number)
        local.ok("push", source, f"data{number}")
        expected[f"data{number}@v1"] = contents(source)
    return expected


def pull(stager: Stager, reference: str, **settings: str) -> subprocess.Popen[str]:
    """A pull whose parent ends with it; killing the group kills both."""
    return subprocess.Popen(
        ["bash", "-c", f"{' '.join(PROGRAM)} pull {reference}; exit $?"],
        env={**stager.variables(), **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_T52_kill_of_an_eviction(local: Stager, pushed: dict[str, dict[str, bytes]]) -> None:
    for number, reference in enumerate(list(pushed)[:3]):
        pull(local, reference).communicate()
        os.utime(local.path(reference), (number + 1, number + 1))
    folders = local.workspace().folders
    budget = measure(folders).total + 200_000
    moments = Moments(5, 0.03, 0.0)  # of an eviction, once it began
    for number in range(KILLS):
        wanted = list(pushed)[(number + 3) % 4]
        process = pull(local, wanted, STAGER_BUDGET=str(budget), STAGER_CONNECTIONS="1")
        _wait_for_eviction(local, process, moments.next())
        with contextlib.suppress(ProcessLookupError):  # it was quicker
            os.killpg(process.pid, 9)
        process.communicate()
        moments.hit(any(local.cache.glob("datasets/*/.*")))
        for reference, expected in pushed.items():
            result = local.run("path", reference)
            assert result.code in (0, 40), result.stderr
            if result.code == 0:
                assert contents(Path(result.stdout.strip())) == expected
        done = pull(local, wanted, STAGER_BUDGET=str(budget))
        _, stderr = done.communicate()
        assert done.returncode == 0, stderr
        assert contents(local.path(wanted)) == pushed[wanted]
        assert measure(folders).total <= budget
    moments.require(KILLS // 5)
    local.ok("cache", "prune")
    assert not list(local.cache.glob("datasets/*/.*.removed-*"))
    assert not list(local.cache.glob("datasets/*/.*.evicted"))


def test_T54_a_small_disk_holds_what_fits_and_evicts_for_the_rest(
    local: Stager, pushed: dict[str, dict[str, bytes]], small_disk: Path
) -> None:
    """24 MiB, four versions of some 4 MB and a floor of 12 MB."""
    node = local.at(small_disk / "cache")
    for reference in [*pushed, *pushed]:
        process = pull(node, reference, STAGER_FREE_FLOOR="12MB")
        _, stderr = process.communicate()
        assert process.returncode == 0, stderr
        assert contents(node.path(reference)) == pushed[reference]
        facts = os.statvfs(small_disk)
        assert facts.f_bavail * facts.f_frsize >= 12_000_000
    assert 1 <= len(node.json("cache", "ls")) < 4
    assert node.run("pull", "data0@v1", STAGER_FREE_FLOOR="23MB").code in (0, 41)


def _wait_for_eviction(stager: Stager, process: subprocess.Popen[str], more: float) -> None:
    """Until the pull has taken a receipt away, and a little longer."""
    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline:
        if any(stager.cache.glob("datasets/*/.*")):
            break
        time.sleep(0.0005)
    time.sleep(more)
