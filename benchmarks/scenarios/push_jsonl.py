"""Push of JSONL to a fresh prefix every round, so that nothing can be reused."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.comparison import Comparison, Faster
from benchmarks.peers import rclone, s5cmd, stager
from benchmarks.rounds import Scenario
from benchmarks.stores import STORES
from benchmarks.transfers import pushing
from benchmarks.workspace import MEGABYTE, Workspace
from tests.support.s3_server import seaweedfs

SIZE = 800 * MEGABYTE
BAR = 1.8
TOOLS = {"stager": stager.stager, "s5cmd": s5cmd.s5cmd, "rclone": rclone.rclone}


def comparisons(space: Workspace) -> Iterator[Comparison]:
    """One comparison for each kind of bucket."""
    source = space.jsonl(SIZE)
    size = space.scaled(SIZE) / MEGABYTE
    with seaweedfs(space.disk / "push-jsonl") as server:
        for store in STORES:
            bucket = store.make(server)
            yield Comparison(
                title=f"push of {size:,.0f} MB JSONL: {store.title}, loopback",
                amount=size,
                unit="MB",
                contenders=[
                    partial(pushing, make(), server, bucket, source)
                    for name, make in TOOLS.items()
                    if space.wants(name)
                ],
                bars=[Faster("stager", "s5cmd", BAR)],
            )


SCENARIO = Scenario(
    name="push-jsonl",
    question="How long until new JSONL is in the store?",
    comparisons=comparisons,
)
