"""What to run, and what one run took: wall time, processor time, peak memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

LAUNCHER = Path(__file__).with_name("launcher.py")
DEADLINE_SECONDS = 1800.0
TAIL_BYTES = 2000


class BenchmarkFailed(RuntimeError):
    """A command failed, ran out of time, or left something else than was asked of it."""


@dataclass(frozen=True)
class Command:
    """A program call; `result` is where the tree it fetches appears, if it fetches one."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: Path | None = None
    result: Path | None = None


@dataclass(frozen=True)
class Sample:
    """One timed run: seconds, seconds of both processor modes, bytes; `output` is its stdout."""

    wall: float
    user: float
    system: float
    peak_rss: int
    output: str


def measure(command: Command, scratch: Path) -> Sample:
    """Run the command with its logs in `scratch`; raises BenchmarkFailed unless it exits 0.

    Earlier writes are flushed first, so that no run pays for the writes of the one before.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    report, stdout, stderr = (scratch / f"{name}.log" for name in ("usage", "stdout", "stderr"))
    launcher = [sys.executable, "-I", "-S", *map(str, (LAUNCHER, report, stdout, stderr))]
    os.sync()
    with subprocess.Popen(
        [*launcher, *command.argv],
        env=_environment(command, scratch),
        cwd=command.directory,
        start_new_session=True,
    ) as process:
        try:
            process.wait(DEADLINE_SECONDS)
        except subprocess.TimeoutExpired as late:
            raise BenchmarkFailed(f"{command.argv[0]}: no end in {DEADLINE_SECONDS} s") from late
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    usage = json.loads(report.read_text(encoding="utf-8"))
    output = stdout.read_text(encoding="utf-8", errors="replace")
    if usage.pop("status") != 0:
        tail = stderr.read_bytes()[-TAIL_BYTES:].decode(errors="replace")
        raise BenchmarkFailed(f"{' '.join(command.argv)} failed:\n{tail}{output[-TAIL_BYTES:]}")
    return Sample(**usage, output=output)


def _environment(command: Command, scratch: Path) -> dict[str, str]:
    """Only what a command is given: nobody's own settings, keys or caches take part."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C.UTF-8",
        "HOME": str(scratch),
        **command.environment,
    }
