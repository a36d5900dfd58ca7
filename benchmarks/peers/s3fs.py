"""s3fs, the fsspec filesystem, as a script of three lines would use it."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.measure import Command
from benchmarks.peers.peer import Peer, Place, package_version

SCRIPT = """\
import sys, s3fs
endpoint, verb, source, target = sys.argv[1:]
files = s3fs.S3FileSystem(endpoint_url=endpoint)
getattr(files, verb)(source, target, recursive=True)
"""


def s3fs() -> Peer:
    """Trees by recursive `get` and `put` with the default settings."""
    return Peer(
        name="s3fs",
        version=package_version("s3fs"),
        pull=pull,
        push=push,
        pull_shown="S3FileSystem().get('BUCKET/PREFIX/', 'DEST/', recursive=True)",
        push_shown="S3FileSystem().put('SOURCE/', 'BUCKET/PREFIX/', recursive=True)",
    )


def pull(place: Place, scratch: Path) -> Command:
    """Fetch all keys under the prefix."""
    result = scratch / "out"
    return _command(place, "get", f"{place.bucket}/{place.prefix}/", f"{result}/", result=result)


def push(source: Path, place: Place, scratch: Path) -> Command:
    """Send the tree, each file under its own key."""
    del scratch
    return _command(place, "put", f"{source}/", f"{place.bucket}/{place.prefix}/")


def _command(place: Place, *arguments: str, result: Path | None = None) -> Command:
    argv = (sys.executable, "-c", SCRIPT, place.server.endpoint, *arguments)
    return Command(argv, place.server.environment(), result=result)
