"""Commands in forks of one process that has everything imported: some 20 ms a command.

    with zygote() as forks:
        forks.at(stager).run("pull", "data@v1", trap="storage:before:3")

The process speaks lines of JSON over its standard streams and does one command at a time. It
has no threads of its own, so its forks are as sound as a fresh start.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from tests.support.command import Result, Stager

LIMIT_SECONDS = 60.0
RESERVE_SECONDS = 5.0


class TooLong(AssertionError):
    """A command did not end within its time."""


class Running:
    """A command in a fork, until `wait` says how it ended."""

    def __init__(self, pid: int, zygote: Zygote, streams: tuple[str, ...]) -> None:
        self.pid = pid
        self._zygote = zygote
        self._streams = streams

    @property
    def sprung(self) -> int:
        """How often its trap was sprung; for a command that ended."""
        return len(Path(self._streams[2]).read_bytes())

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the command alone."""
        os.kill(self.pid, number)

    def wait(self, limit: float = LIMIT_SECONDS) -> Result:
        """Its exit code and streams; TooLong when it must be killed after `limit` seconds."""
        overdue = threading.Event()

        def kill() -> None:
            overdue.set()
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

        timer = threading.Timer(limit, kill)
        timer.start()
        try:
            code = self._zygote.answer()
        finally:
            timer.cancel()
        stdout, stderr = (Path(name).read_text(errors="replace") for name in self._streams[:2])
        if overdue.is_set():
            raise TooLong(f"not done in {limit:g} s\n{stdout}{stderr}")
        return Result(code, stdout, stderr)


class Zygote:
    """The process that forks; used by one thread at a time."""

    def __init__(self, folder: Path) -> None:
        self._streams = tuple(str(folder / name) for name in ("stdout", "stderr", "sprung"))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forked"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def start(
        self, arguments: tuple[str, ...], variables: Mapping[str, str], trap: str, folder: str
    ) -> Running:
        """Begins a command; `trap` is one of traps.py, `folder` where disk steps count."""
        order = {
            "arguments": arguments,
            "variables": dict(variables),
            "trap": trap,
            "folder": folder,
            "streams": self._streams,
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return Running(self.answer(), self, self._streams)

    def answer(self) -> int:
        """The next number that the process tells: a process id, then its exit code."""
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """Ends the process; its forks have ended."""
        self._process.communicate()


@dataclass(frozen=True)
class ForkedStager(Stager):
    """A Stager whose commands are forks."""

    zygote: Zygote = field(kw_only=True)

    def begin(
        self, *arguments: str | Path, trap: str = "", folder: str = "", **extra: str
    ) -> Running:
        """A running command, with a trap perhaps."""
        texts = tuple(map(str, arguments))
        return self.zygote.start(texts, {**self.variables(), **extra}, trap, folder)

    def run(self, *arguments: str | Path, **extra: str) -> Result:
        """A finished command, whatever its exit code."""
        return self.begin(*arguments, **extra).wait()

    def at(self, cache: Path) -> ForkedStager:
        """The same remote, seen from another node."""
        return ForkedStager(self.remote, cache, self.environment, zygote=self.zygote)


@contextlib.contextmanager
def zygote() -> Iterator[Zygote]:
    """A process to fork commands from, until the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        mother = Zygote(Path(folder))
        try:
            yield mother
        finally:
            mother.close()


def _import_everything() -> None:
    import stager

    for module in pkgutil.walk_packages(stager.__path__, "stager."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _become(order: Mapping[str, Any]) -> NoReturn:
    """Runs the command in this fork, which ends with it."""
    from stager.cli import app
    from tests.support.traps import set_trap

    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        opened = [os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for name in order["streams"]]
        os.dup2(opened[0], 1)
        os.dup2(opened[1], 2)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        os.environ.clear()
        os.environ.update(order["variables"])
        if order["trap"]:
            set_trap(order["trap"], order["folder"], opened[2])
        app.main(order["arguments"])
    except BaseException:  # noqa: BLE001 - a fork must not go on as its parent does
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(1)  # as an uncaught exception does


def main() -> None:
    """Forks one command for each line; tells its process id, then its exit code."""
    _import_everything()
    import gc

    gc.freeze()
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become(order)
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
