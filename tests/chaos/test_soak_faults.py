"""Long transfers over bad links, with their figures for docs/faults.md.

Run by `make chaos`; `-s` shows the figures. The pulls read from a real S3 server through the
fault proxy, as processes of their own.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support import corpus
from tests.support.command import Stager
from tests.support.faults import kinds
from tests.support.faults.proxy import FaultProxy, fault_proxy
from tests.support.faults.rules import Rule
from tests.support.s3_server import NEXT_KEYS, S3Server

pytestmark = pytest.mark.soak

GIGABYTE = 1_000_000_000
SMALL_PUSH = 60_000_000
OVERHEAD = 1.15
ROUNDS = 7
CHANCE = 0.01
EXPIRED = Rule(kinds.refused("expired", 403, "ExpiredToken"), key="/packs/", first=9)
RANDOM_FAULTS = (
    lambda: kinds.refused("500", 500, "InternalError"),
    lambda: kinds.refused("503", 503, "ServiceUnavailable"),
    lambda: kinds.refused("SlowDown", 503, "SlowDown"),
    lambda: kinds.reset_download(100_000),
    lambda: kinds.short_body(1),
)


@pytest.fixture(scope="module")
def proxy(s3_server: S3Server) -> Iterator[FaultProxy]:
    """Before the server."""
    with fault_proxy(s3_server.endpoint) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gigabyte that does not compress: what is pulled is what crosses the link."""
    folder = tmp_path_factory.mktemp("gigabyte")
    for number in range(4):
        corpus.incompressible(folder / f"{number}.bin", GIGABYTE // 4, seed=number)
    return folder


@pytest.fixture(scope="module")
def remote(s3_server: S3Server, source: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """`data@v1` holds it."""
    bucket = s3_server.make_bucket("soak-faults", encrypted=True)
    url = f"s3://{bucket}/team"
    node = tmp_path_factory.mktemp("pushing")
    Stager(url, node / "cache", s3_server.environment()).ok("push", source, "data")
    return url


@pytest.fixture
def through(s3_server: S3Server, proxy: FaultProxy, remote: str, tmp_path: Path) -> Stager:
    """A node that sees the remote through the proxy."""
    environment = {**s3_server.environment(), "AWS_ENDPOINT_URL": proxy.endpoint}
    return Stager(remote, tmp_path / "cache", environment)


def pulled(node: Stager) -> tuple[float, int]:
    """Seconds of a pull of data@v1 that is verified afterwards, and bytes that came."""
    began = time.perf_counter()
    report = node.json("pull", "data@v1")
    seconds = time.perf_counter() - began
    node.ok("verify", "data@v1")
    return seconds, int(report["bytes_transferred"])


def test_T63_T58_a_pull_through_random_faults_a_flipped_byte_and_an_expired_token(
    proxy: FaultProxy, through: Stager, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The keys are issued by a program; when the store calls them expired, it is asked again."""
    calm, rough, faults = [], [], 0
    issued, issues = issued_by_program(through, tmp_path)
    for number in range(ROUNDS):
        for times, rules in ((calm, []), (rough, random_faults(number, [EXPIRED]))):
            proxy.set(*rules)
            issues.write_text("")
            node = issued.at(tmp_path / f"node{number}{len(rules)}")
            times.append(pulled(node)[0])
            assert len(issues.read_text()) == 1 + bool(rules)
            faults += proxy.script.total
            node.ok("cache", "rm", "data@v1", "--force")
    overhead = statistics.median(rough) / statistics.median(calm) - 1
    report(
        capsys,
        f"1 GB, {CHANCE:.0%} random faults, a flipped byte and an expired token: {faults} faults "
        f"in {ROUNDS} pulls, {statistics.median(rough):.2f} s against "
        f"{statistics.median(calm):.2f} s, {overhead:+.1%}",
    )
    assert faults >= ROUNDS
    assert overhead <= OVERHEAD - 1


def issued_by_program(node: Stager, folder: Path) -> tuple[Stager, Path]:
    """A node whose keys come from a `credential_process` alone; a file of a letter a call.

    Every other call gives the server's other keys: a store's "expired" is believed of the same.
    """
    environment = dict(node.environment)
    first = environment.pop("AWS_ACCESS_KEY_ID"), environment.pop("AWS_SECRET_ACCESS_KEY")
    issues, program, settings = folder / "issues", folder / "issue", folder / "config"
    program.write_text(
        f"#!/bin/sh\nprintf x >> {issues}\nset -- '{issue(*first)}' '{issue(*NEXT_KEYS)}'\n"
        f'[ $(($(wc -c < {issues}) % 2)) = 1 ] || shift\necho "$1"\n'
    )
    program.chmod(0o700)
    settings.write_text(f"[default]\ncredential_process = {program}\n")
    files = {"AWS_CONFIG_FILE": str(settings), "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"}
    return replace(node, environment={**environment, **files}), issues


def issue(key: str, secret: str) -> str:
    """What a `credential_process` prints."""
    keys = {"Version": 1, "AccessKeyId": key, "SecretAccessKey": secret}
    return json.dumps({**keys, "Expiration": "2099-01-01T00:00:00Z"})


def random_faults(seed: int, extra: Sequence[Rule]) -> list[Rule]:
    """Every kind with its share of the chance, after a flipped byte and what a caller adds."""
    share = CHANCE / len(RANDOM_FAULTS)
    dice = [
        Rule(make(), chance=share, seed=seed * 100 + at) for at, make in enumerate(RANDOM_FAULTS)
    ]
    return [Rule(kinds.flipped_byte(), key="/packs/", first=3), *extra, *dice]


@pytest.mark.parametrize(
    ("name", "rate", "pause_after", "pause_seconds"),
    [
        ("a link of 10 MB/s that stalls for 8 s every 100 MB", 10e6, 100_000_000, 8.0),
        ("a link of 1 MB/s", 1e6, 0, 0.0),
    ],
    ids=["stalling", "slow"],
)
def test_T62_a_gigabyte_over_a_bad_link(
    proxy: FaultProxy,
    through: Stager,
    capsys: pytest.CaptureFixture[str],
    name: str,
    rate: float,
    pause_after: int,
    pause_seconds: float,
) -> None:
    proxy.set(Rule(kinds.slow(rate, pause_after, pause_seconds), times=None))
    began = time.perf_counter()
    process = through.start("pull", "data@v1", "--json", STAGER_STALL_SECONDS="10")
    _, stderr = process.communicate(timeout=1800)
    seconds = time.perf_counter() - began
    assert process.returncode == 0, stderr
    through.ok("verify", "data@v1")
    report(capsys, f"1 GB over {name}: {seconds:.0f} s, {GIGABYTE / seconds / 1e6:.2f} MB/s")


def test_T62_an_upload_is_not_ended_for_being_slow(
    proxy: FaultProxy, through: Stager, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One pack of 24 MiB takes 25 s and more, five times what may pass without progress."""
    source = tmp_path / "source"
    source.mkdir()
    corpus.incompressible(source / "noise.bin", SMALL_PUSH, seed=9)
    proxy.set(Rule(kinds.slow(1e6), times=None))
    began = time.perf_counter()
    through.ok("push", source, "slow", STAGER_STALL_SECONDS="5")
    seconds = time.perf_counter() - began
    proxy.set()
    through.ok("verify", "slow@v1", "--in-remote")
    report(capsys, f"push of 60 MB over a link of 1 MB/s: {seconds:.0f} s")


def report(capsys: pytest.CaptureFixture[str], text: str) -> None:
    """Shows a figure though pytest captures output."""
    with capsys.disabled():
        print(f"\n{text}")
