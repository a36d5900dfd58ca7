"""A signal while the store stalls or refuses: within 5 s, exit code 130, and resumable.

T71. The limit for silence is far longer than that, so nothing but the signal ends the verb.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.fault_ground import VERBS, Ground, fault_ground
from tests.support.faults import kinds
from tests.support.faults.kinds import Fault
from tests.support.faults.rules import Rule
from tests.support.forked import ForkedStager
from tests.support.s3_server import S3Server

STOP_LIMIT = 5.0
SLACK = 1.0  # of a loaded machine, for the process to be reaped

STALLS = {
    "an answer that stalls": lambda: kinds.stalled_download(1000),
    "an upload that stalls": lambda: kinds.stalled_upload(100),
    "no answer": kinds.silent,
    "a wait before the next try": lambda: kinds.refused("503", 503, "SlowDown"),
}
QUICK = [
    ("pull", "an answer that stalls", "/packs/", signal.SIGINT),
    ("pull", "no answer", "/versions/", signal.SIGTERM),
    ("push", "an upload that stalls", "/packs/", signal.SIGTERM),
    ("adopt", "a wait before the next try", "/plain/", signal.SIGINT),
]


@pytest.fixture(scope="module")
def ground(s3_server: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """Data in a bucket, and the proxy before it."""
    bucket = s3_server.make_bucket("stop-faults")
    with fault_ground(s3_server, bucket, tmp_path_factory.mktemp("stop")) as ground:
        yield ground


def stopped(ground: Ground, verb: str, fault: Fault, key: str, number: signal.Signals) -> bool:
    """Whether there was something to stop; then it stopped in time and went on afterwards."""
    trial = VERBS[verb](ground)
    direct = ground.stager("", "").environment
    faulty = {"AWS_ENDPOINT_URL": ground.proxy.endpoint, "STAGER_STALL_SECONDS": "60"}
    faulty["STAGER_ATTEMPTS"] = "1000"
    stager = ForkedStager(trial.remote, trial.cache, {**direct, **faulty}, zygote=ground.zygote)
    ground.proxy.set(Rule(fault, key=key, times=None))
    running = stager.begin(*trial.arguments)
    if not _befallen(ground, running.pid):
        running.wait()
        return False
    began = time.monotonic()
    running.signal(number)
    result = running.wait(STOP_LIMIT + SLACK)
    assert time.monotonic() - began < STOP_LIMIT
    assert result.code == 130
    assert "continues" in result.stderr and "Traceback" not in result.stderr
    ground.proxy.set()
    trial.whole()
    again = ForkedStager(trial.remote, trial.cache, direct, zygote=ground.zygote)
    trial.check(again.ok(*trial.arguments))
    return True


def _befallen(ground: Ground, pid: int) -> bool:
    """Whether the fault came while the command runs; a moment later it waits in it."""
    while ground.proxy.script.total == 0:
        if not _runs(pid):
            return False
        time.sleep(0.005)
    time.sleep(0.05)
    return True


def _runs(pid: int) -> bool:
    """Whether the process has not ended; its zygote may already have reaped it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize(("verb", "stall", "key", "number"), QUICK)
def test_T71_a_signal_while_the_store_keeps_one_waiting(
    ground: Ground, verb: str, stall: str, key: str, number: signal.Signals
) -> None:
    assert stopped(ground, verb, STALLS[stall](), key, number)


@pytest.mark.soak
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("stall", STALLS)
@pytest.mark.parametrize("verb", VERBS)
def test_T71_a_signal_in_every_wait_of_every_verb(
    ground: Ground, verb: str, stall: str, number: signal.Signals
) -> None:
    for key in ("stager.json$", "/versions/", "/placements/", "/packs/", "/plain/", "/tags/", ""):
        stopped(ground, verb, STALLS[stall](), key, number)
