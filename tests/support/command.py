"""The command as a user types it: a process, its exit code, its two streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stager import config
from stager.model.names import parse_reference
from stager.storage.connect import normalised
from stager.workspace import Workspace

PROGRAM = (sys.executable, "-m", "stager")
KEPT = ("PATH", "HOME", "TMPDIR", "LANG", "PYTHONPATH", "COVERAGE_PROCESS_START")
LIMIT_SECONDS = 300


@dataclass(frozen=True)
class Result:
    """What a finished command left."""

    code: int
    stdout: str
    stderr: str

    def json(self) -> Any:
        """The report of a command run with --json."""
        return json.loads(self.stdout)


@dataclass(frozen=True)
class Stager:
    """A remote and a cache, and commands run against them."""

    remote: str
    cache: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def variables(self) -> dict[str, str]:
        """The environment of the process: nothing of this one's settings leaks in."""
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return {
            **kept,
            **self.environment,
            "STAGER_REMOTE": self.remote,
            "STAGER_CACHE": str(self.cache),
            "STAGER_FREE_FLOOR": "0",
            "STAGER_AUTHOR": "tester",
        }

    def start(self, *arguments: str | Path, **extra: str) -> subprocess.Popen[str]:
        """A running command."""
        return subprocess.Popen(
            [*PROGRAM, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**self.variables(), **extra},
        )

    def run(self, *arguments: str | Path, **extra: str) -> Result:
        """A finished command, whatever its exit code."""
        process = self.start(*arguments, **extra)
        stdout, stderr = process.communicate(timeout=LIMIT_SECONDS)
        return Result(process.returncode, stdout, stderr)

    def ok(self, *arguments: str | Path, **extra: str) -> Result:
        """A finished command that must have succeeded."""
        result = self.run(*arguments, **extra)
        assert result.code == 0, f"{arguments}: exit {result.code}\n{result.stdout}{result.stderr}"
        return result

    def json(self, *arguments: str | Path) -> Any:
        """The --json report of a command that must have succeeded."""
        return self.ok(*arguments, "--json").json()

    def path(self, reference: str) -> Path:
        """Where a staged version lies."""
        return Path(self.ok("path", reference).stdout.strip())

    def at(self, cache: Path) -> Stager:
        """The same remote, seen from another node."""
        return Stager(self.remote, cache, self.environment)

    def workspace(self) -> Workspace:
        """The same settings in this process, to look inside."""
        return Workspace(config.load(environ=self.variables(), folder=self.cache.parent))

    def placement(self, reference: str) -> Any:
        """The placement of a version, read from the remote."""
        from stager.catalog import placements, versions

        store = self.workspace().remote
        record = versions.resolve(store, parse_reference(reference))
        return placements.read(store, record.placement)[0]

    @property
    def remote_folder(self) -> Path:
        """The folder of a local remote."""
        return Path(normalised(self.remote).removeprefix("file://"))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by relative path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
