"""What is left when there is nothing to do: starting up, looking, saying so."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from benchmarks.comparison import Comparison, Contender, Within
from benchmarks.measure import Command, Sample, measure
from benchmarks.peers import dvc, s5cmd, stager
from benchmarks.peers.peer import Peer, Place
from benchmarks.rounds import Scenario
from benchmarks.transfers import upload
from benchmarks.workspace import MEGABYTE, Workspace, require_same_tree
from tests.support.s3_server import S3Server, seaweedfs

JSONL_SIZE = 100 * MEGABYTE
FILE_COUNT = 5_000
PULL_SECONDS = 0.3
HELP_SECONDS = 0.2


def comparisons(space: Workspace) -> Iterator[Comparison]:
    """Pulls of versions that are complete, one with a large file, one with many; then --help."""
    if space.wants("stager"):
        with seaweedfs(space.disk / "no-op") as server:
            server.make_bucket("quiet")
            large, many = space.jsonl(JSONL_SIZE), space.small_files(FILE_COUNT)
            yield _again("pull of a complete version, one file", space, server, large)
            yield _again("pull of a complete version, many files", space, server, many)
    yield _help(space)


def _again(title: str, space: Workspace, server: S3Server, source: Path) -> Comparison:
    return Comparison(
        title=title,
        amount=1,
        unit="runs",
        contenders=[partial(_pull_again, space, server, source)],
        bars=[Within("stager", "wall", PULL_SECONDS, "s"), Within("stager", "requests", 0)],
    )


def _pull_again(space: Workspace, server: S3Server, source: Path) -> Contender:
    """Pull once here, untimed; every timed run is the same command again."""
    peer = stager.stager()
    place = Place(server, "quiet", source.name)
    home = space.fast / f"complete-{source.name}"
    home.mkdir()
    upload(peer, source, place, home)
    first = peer.pull(place, home)
    measure(first, home)
    assert first.result is not None, "a pull names its result"
    require_same_tree(source, first.result)
    return Contender(peer.name, peer.version, peer.pull_shown, lambda _: first, _requests)


def _requests(command: Command, scratch: Path, sample: Sample) -> Mapping[str, float]:
    del command, scratch
    return {"requests": float(sum(json.loads(sample.output)["requests"].values()))}


def _help(space: Workspace) -> Comparison:
    programs: dict[str, Callable[[], Contender]] = {
        "stager": lambda: _answer(stager.stager(), stager.program("--help")),
        "s5cmd": lambda: _answer(s5cmd.s5cmd(), (str(s5cmd.binary()), "--help")),
        "dvc": lambda: _answer(dvc.dvc(space.disk), (dvc.program(), "--help")),
    }
    return Comparison(
        title="--help",
        amount=1,
        unit="runs",
        contenders=[make for name, make in programs.items() if space.wants(name)],
        bars=[Within("stager", "wall", HELP_SECONDS, "s")],
    )


def _answer(peer: Peer, argv: tuple[str, ...]) -> Contender:
    shown = f"{peer.name} --help"
    return Contender(peer.name, peer.version, shown, lambda _: Command(argv), lambda *_: {})


SCENARIO = Scenario(
    name="no-op",
    question="How long does it take to do nothing?",
    comparisons=comparisons,
)
