"""A diff that is stopped or killed leaves nothing that the next one does not take away."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.support import corpus
from tests.support.command import Stager

BYTES = 48_000_000


@pytest.fixture
def two(local: Stager, tmp_path: Path) -> Stager:
    """`data@v1` and `data@v2`, large enough to be caught in the middle."""
    source = tmp_path / "source"
    source.mkdir()
    for seed in (1, 2):
        corpus.jsonl(source / "train.jsonl", BYTES, seed)
        local.ok("push", source, "data")
    return local


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_T47_what_a_stopped_diff_had_fetched_goes(two: Stager, number: signal.Signals) -> None:
    process = two.start("diff", "data@v1", "data@v2", STAGER_CONNECTIONS="1")
    staging = two.cache / "staging"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not list(staging.glob("*/train.jsonl")):
        time.sleep(0.002)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == (-9 if number == signal.SIGKILL else 130)
    assert "Traceback" not in stderr
    report = two.json("diff", "data@v1", "data@v2")
    assert report["records"]["same"] == 0
    assert list(staging.iterdir()) == []
    assert list((two.cache / "locks" / "space").iterdir()) == []


def test_two_diffs_at_once_do_not_take_each_others_files(two: Stager) -> None:
    running = [two.start("diff", "data@v1", "data@v2", "--json") for _ in range(3)]
    for process in running:
        stdout, stderr = process.communicate(timeout=60)
        assert process.returncode == 0, stdout + stderr
    assert list((two.cache / "staging").iterdir()) == []
