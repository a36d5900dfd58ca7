"""rclone with its default settings, configured by environment alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.measure import Command
from benchmarks.peers.peer import Peer, Place, printed_version
from tests.support.processes import find_program


def rclone() -> Peer:
    """Trees through rclone's S3 backend."""
    return Peer(
        name="rclone",
        version=_version(),
        pull=pull,
        push=push,
        pull_shown="rclone copy :s3:BUCKET/PREFIX DEST",
        push_shown="rclone copy SOURCE :s3:BUCKET/PREFIX",
    )


def rclone_over_http(names: Sequence[str]) -> Peer:
    """Trees by name through rclone's HTTP backend: for servers that cannot list."""
    return Peer(
        name="rclone",
        version=_version(),
        pull=partial(pull_over_http, tuple(names)),
        push=push,
        pull_shown="rclone copy :http: DEST --http-url URL --files-from NAMES --no-traverse",
        push_shown="rclone copy SOURCE :s3:BUCKET/PREFIX",
    )


def pull(place: Place, scratch: Path) -> Command:
    """Fetch all keys under the prefix."""
    result = scratch / "out"
    return _command(place, "copy", _remote(place), str(result), result=result)


def pull_over_http(names: Sequence[str], place: Place, scratch: Path) -> Command:
    """Fetch the named files under the prefix by plain GETs."""
    result = scratch / "out"
    listing = scratch / "names.txt"
    listing.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    url = f"{place.server.endpoint}/{place.bucket}/{place.prefix}/"
    options = ("--http-url", url, "--files-from", str(listing), "--no-traverse")
    return _command(place, "copy", ":http:", str(result), *options, result=result)


def push(source: Path, place: Place, scratch: Path) -> Command:
    """Send the tree, each file under its own key."""
    del scratch
    return _command(place, "copy", str(source), _remote(place))


def _remote(place: Place) -> str:
    return f":s3:{place.bucket}/{place.prefix}"


def _command(place: Place, *arguments: str, result: Path | None = None) -> Command:
    environment = {
        **place.server.environment(),
        "RCLONE_S3_PROVIDER": "SeaweedFS",
        "RCLONE_S3_ENV_AUTH": "true",
        "RCLONE_S3_ENDPOINT": place.server.endpoint,
        "RCLONE_S3_REGION": place.server.region,
    }
    argv = (str(find_program("rclone")), "--config", "", *arguments)
    return Command(argv, environment, result=result)


def _version() -> str:
    return printed_version((str(find_program("rclone")), "version")).removeprefix("rclone ")
