"""Pull of compressible JSONL: what sending a third of the bytes is worth, fast link or slow."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.comparison import Comparison, Faster
from benchmarks.peers import rclone, s3fs, s5cmd, stager
from benchmarks.peers.peer import Peer, Place
from benchmarks.rounds import Scenario
from benchmarks.stores import STORES
from benchmarks.transfers import pulling, upload
from benchmarks.workspace import MEGABYTE, Workspace
from tests.support.relay import slow_link
from tests.support.s3_server import seaweedfs

SIZE = 800 * MEGABYTE
LOOPBACK_BAR = 2.0
GIGABIT = 1e9
GIGABIT_BAR = 2.5
TOOLS = {
    "stager": stager.stager,
    "s5cmd": s5cmd.s5cmd,
    "rclone": rclone.rclone,
    "s3fs": s3fs.s3fs,
}


def comparisons(space: Workspace) -> Iterator[Comparison]:
    """The same data in both kinds of bucket, on loopback and through a link of 1 Gbit/s."""
    source = space.jsonl(SIZE)
    peers = [make() for name, make in TOOLS.items() if space.wants(name)]
    with seaweedfs(space.disk / "packed-pull") as server:
        port = urlsplit(server.endpoint).port or 0
        for store in STORES:
            bucket = store.make(server)
            for peer in peers:
                with space.fresh("publish") as scratch:
                    upload(peer, source, Place(server, bucket, peer.name), scratch)
            places = [(peer, Place(server, bucket, peer.name)) for peer in peers]
            yield _comparison(f"{store.title}, loopback", places, source, LOOPBACK_BAR)
            with slow_link(port, GIGABIT) as link:
                far = dataclasses.replace(server, endpoint=link.endpoint)
                places = [(peer, Place(far, bucket, peer.name)) for peer in peers]
                yield _comparison(f"{store.title}, 1 Gbit/s", places, source, GIGABIT_BAR)


def _comparison(
    where: str, places: list[tuple[Peer, Place]], source: Path, bar: float
) -> Comparison:
    size = sum(path.stat().st_size for path in source.iterdir()) / MEGABYTE
    return Comparison(
        title=f"pull of {size:,.0f} MB JSONL into tmpfs: {where}",
        amount=size,
        unit="MB",
        contenders=[partial(pulling, peer, place, source) for peer, place in places],
        bars=[Faster("stager", "s5cmd", bar)],
    )


SCENARIO = Scenario(
    name="packed-pull",
    question="How fast does JSONL reach the node when it may travel compressed?",
    comparisons=comparisons,
)
