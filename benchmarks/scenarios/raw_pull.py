"""Pull of plain, incompressible files from the fastest store there is: nothing but transfer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.comparison import Comparison, Contender, Faster
from benchmarks.measure import measure
from benchmarks.peers import rclone, s5cmd, stager
from benchmarks.peers.peer import Place
from benchmarks.rounds import Scenario
from benchmarks.transfers import pulling
from benchmarks.workspace import MEGABYTE, Workspace
from tests.support import corpus
from tests.support.nginx_server import nginx
from tests.support.s3_server import S3Server

BUCKET = "bucket"
BAR = 1.2
LAYOUTS = ((1, 800 * MEGABYTE), (8, 100 * MEGABYTE))


def comparisons(space: Workspace) -> Iterator[Comparison]:
    """One large file, then eight of them; the peers fetch the very files that were pushed."""
    root = space.disk / "www"
    with nginx(root) as endpoint:
        server = S3Server(endpoint=endpoint, access_key="any", secret_key="any")
        for count, size in LAYOUTS:
            yield _layout(space, root, server, count, space.scaled(size))


def _layout(space: Workspace, root: Path, server: S3Server, count: int, size: int) -> Comparison:
    prefix = f"plain-{count}"
    source = root / BUCKET / prefix
    source.mkdir(parents=True)
    for number in range(count):
        corpus.incompressible(source / f"part-{number}.bin", size, seed=number)
    names = sorted(path.name for path in source.iterdir())
    place = Place(server, BUCKET, prefix)
    builders: dict[str, Callable[[], Contender]] = {
        "stager": lambda: _stager(space, root, server, source),
        "s5cmd": lambda: pulling(s5cmd.s5cmd_by_key(names), place, source),
        "rclone": lambda: pulling(rclone.rclone_over_http(names), place, source),
    }
    return Comparison(
        title=f"{count} x {size / MEGABYTE:g} MB from nginx into tmpfs",
        amount=count * size / MEGABYTE,
        unit="MB",
        contenders=[make for name, make in builders.items() if space.wants(name)],
        bars=[Faster("stager", "s5cmd", BAR)],
    )


def _stager(space: Workspace, root: Path, server: S3Server, source: Path) -> Contender:
    """Push with --plain into a folder that nginx serves, pull it as if from S3."""
    team = f"team-{source.name}"
    remote = root / BUCKET / team
    with space.fresh("publish") as scratch:
        measure(stager.push_to(str(remote), source, scratch, {}, "--plain"), scratch)
    return pulling(stager.stager(), Place(server, BUCKET, team), source)


SCENARIO = Scenario(
    name="raw-pull",
    question="How fast do plain files come from a store that only serves bytes?",
    comparisons=comparisons,
)
