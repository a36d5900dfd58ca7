"""What the harness knows of any tool: how it fetches and sends a tree, and what it is called."""

from __future__ import annotations

import importlib.metadata
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import BenchmarkFailed, Command
from tests.support.s3_server import S3Server


@dataclass(frozen=True)
class Place:
    """A prefix in a bucket of a server."""

    server: S3Server
    bucket: str
    prefix: str

    @property
    def url(self) -> str:
        """The prefix as S3 tools write it."""
        return f"s3://{self.bucket}/{self.prefix}"


@dataclass(frozen=True)
class Peer:
    """One tool.

    `pull(place, scratch)` fetches the tree at `place` into a folder under `scratch`, named by
    the command's `result`; `push(source, place, scratch)` sends the tree `source` to `place`.
    Both return the command to run; the lines `pull_shown` and `push_shown` are for readers.
    """

    name: str
    version: str
    pull: Callable[[Place, Path], Command]
    push: Callable[[Path, Place, Path], Command]
    pull_shown: str
    push_shown: str


def package_version(package: str) -> str:
    """The version of an installed Python package."""
    return importlib.metadata.version(package)


def printed_version(command: Sequence[str]) -> str:
    """The first line a program prints when asked for its version."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as failure:
        raise BenchmarkFailed(f"no version from {command[0]}: {failure}") from failure
    return (done.stdout.strip() or done.stderr.strip()).splitlines()[0]
