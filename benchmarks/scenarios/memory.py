"""Peak memory of push and pull: it must not grow with the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.comparison import Comparison, Contender, Within
from benchmarks.peers import stager
from benchmarks.peers.peer import Place
from benchmarks.rounds import Scenario
from benchmarks.transfers import pulling, pushing, upload
from benchmarks.workspace import MEGABYTE, Workspace
from tests.support.s3_server import S3Server, seaweedfs

SIZES = (100 * MEGABYTE, 3_000 * MEGABYTE)
MOST_MEGABYTES = 400


def comparisons(space: Workspace) -> Iterator[Comparison]:
    """Push, then pull, of a small and of a large version."""
    if not space.wants("stager"):
        return
    with seaweedfs(space.disk / "memory") as server:
        server.make_bucket("memory")
        for size in SIZES:
            for verb, make in (("push", _push), ("pull", _pull)):
                yield _comparison(verb, space.scaled(size), partial(make, space, server, size))


def _comparison(verb: str, size: int, make: Callable[[], Contender]) -> Comparison:
    return Comparison(
        title=f"{verb} of {size / MEGABYTE:,.0f} MB JSONL, SeaweedFS on loopback",
        amount=size / MEGABYTE,
        unit="MB",
        contenders=[make],
        bars=[Within("stager", "peak_rss", MOST_MEGABYTES, "MB", MEGABYTE)],
    )


def _push(space: Workspace, server: S3Server, size: int) -> Contender:
    return pushing(stager.stager(), server, "memory", space.jsonl(size))


def _pull(space: Workspace, server: S3Server, size: int) -> Contender:
    peer, source = stager.stager(), space.jsonl(size)
    place = Place(server, "memory", f"pull-{size}")
    with space.fresh("publish") as scratch:
        upload(peer, source, place, scratch)
    return pulling(peer, place, source)


SCENARIO = Scenario(
    name="memory",
    question="How much memory do push and pull take, for little data and for much?",
    comparisons=comparisons,
)
