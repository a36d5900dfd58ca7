"""Thousands of small files: what not paying for each of them is worth, both ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.comparison import Comparison, Contender, Faster
from benchmarks.peers import dvc, rclone, s3fs, s5cmd, stager
from benchmarks.peers.peer import Peer, Place
from benchmarks.rounds import Scenario
from benchmarks.transfers import pulling, pushing, upload
from benchmarks.workspace import Workspace
from tests.support.s3_server import S3Server, seaweedfs

COUNT = 5_000
PULL_BARS = (
    Faster("stager", "s5cmd", 8),
    Faster("stager", "s3fs", 40),
    Faster("stager", "dvc", 60),
)
PUSH_BARS = (Faster("stager", "s5cmd", 5),)
TOOLS: dict[str, Callable[[], Peer]] = {
    "stager": stager.stager,
    "s5cmd": s5cmd.s5cmd,
    "rclone": rclone.rclone,
    "s3fs": s3fs.s3fs,
}


def comparisons(space: Workspace) -> Iterator[Comparison]:
    """Pull into tmpfs, then push from disk, against one server."""
    source = space.small_files(COUNT)
    count = space.scaled(COUNT)
    tools = {name: make for name, make in TOOLS.items() if space.wants(name)}
    with seaweedfs(space.disk / "small-files") as server:
        bucket = server.make_bucket("small")
        pulls: list[Callable[[], Contender]] = [
            partial(_pull, make, space, server, bucket, source) for make in tools.values()
        ]
        if space.wants("dvc"):
            pulls.append(partial(_pull_by_dvc, space, server, bucket, source))
        pushes: list[Callable[[], Contender]] = [
            partial(_push, make, server, bucket, source) for make in tools.values()
        ]
        what = f"{count:,} files of 2 to 20 KB, SeaweedFS on loopback"
        yield Comparison(f"pull of {what}, into tmpfs", count, "files", pulls, PULL_BARS)
        yield Comparison(f"push of {what}", count, "files", pushes, PUSH_BARS)


def _pull(
    make: Callable[[], Peer], space: Workspace, server: S3Server, bucket: str, source: Path
) -> Contender:
    peer = make()
    place = Place(server, bucket, peer.name)
    with space.fresh("publish") as scratch:
        upload(peer, source, place, scratch)
    return pulling(peer, place, source)


def _push(make: Callable[[], Peer], server: S3Server, bucket: str, source: Path) -> Contender:
    return pushing(make(), server, bucket, source)


def _pull_by_dvc(space: Workspace, server: S3Server, bucket: str, source: Path) -> Contender:
    place = Place(server, bucket, "dvc")
    project = space.disk / "dvc-project"
    with space.fresh("publish") as scratch:
        dvc.publish(project, source, place, scratch)
    return pulling(dvc.dvc(project), place, source)


SCENARIO = Scenario(
    name="small-files",
    question="How long do thousands of small files take, down and up?",
    comparisons=comparisons,
)
