"""stager itself: every run starts with an empty cache, on the same disk as its destination."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.measure import Command
from benchmarks.peers.peer import Peer, Place, package_version

DATASET = "bench"


def stager() -> Peer:
    """The stager installed beside this interpreter, or the one on its path."""
    return Peer(
        name="stager",
        version=package_version("stager"),
        pull=pull,
        push=push,
        pull_shown="stager pull bench@v1 --cache CACHE --remote s3://BUCKET/PREFIX --json",
        push_shown="stager push SOURCE bench --remote s3://BUCKET/PREFIX --json",
    )


def pull(place: Place, scratch: Path) -> Command:
    """Fetch the first version at the remote, which is the only one there.

    As in a launch script, `DATA=$(stager pull bench@v1)`: the files are at the path it prints,
    in the cache, which lies where the peers' destination lies.
    """
    return pull_version("v1", place, scratch)


def pull_version(version: str, place: Place, scratch: Path) -> Command:
    """Fetch a version into the cache under `scratch`, whatever that holds already."""
    cache = scratch / "cache"
    result = cache / "datasets" / DATASET / version
    argv = ("pull", f"{DATASET}@{version}", "--remote", place.url, "--cache", str(cache))
    return Command(program(*argv, "--json"), place.server.environment(), result=result)


def push(source: Path, place: Place, scratch: Path) -> Command:
    """Send the tree as a new version of the dataset."""
    return push_to(place.url, source, scratch, place.server.environment())


def push_to(
    remote: str, source: Path, scratch: Path, environment: dict[str, str], *options: str
) -> Command:
    """Send the tree to any remote, with further options of `stager push`."""
    argv = program("push", str(source), DATASET, "--remote", remote, "--json", *options)
    return Command(argv, {**environment, "STAGER_CACHE": str(scratch / "cache")})


def show(version: str, place: Place, scratch: Path) -> Command:
    """Print everything known of a version."""
    argv = program("show", f"{DATASET}@{version}", "--remote", place.url, "--json")
    return Command(argv, {**place.server.environment(), "STAGER_CACHE": str(scratch / "cache")})


def program(*arguments: str) -> tuple[str, ...]:
    """A command line of stager."""
    script = Path(sys.executable).with_name("stager")
    start = (str(script),) if script.exists() else (sys.executable, "-m", "stager")
    return (*start, *arguments)
