"""Server processes on loopback: pick ports, start, wait until they answer, end by process id.

A server runs in a process group of its own with its output in a log file. It is ended by
killing exactly that group, so nothing that this module did not start is ever touched.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LOOPBACK = "127.0.0.1"
POLL_SECONDS = 0.01
LOG_TAIL_BYTES = 2000


class ServerFailed(RuntimeError):
    """A server could not be found, ended early, or did not answer before its deadline."""


@dataclass(frozen=True)
class ServerProcess:
    """A running server: its process (and group) id and where its output goes."""

    pid: int
    log: Path


def free_port() -> int:
    """A TCP port nobody listens on at this moment; another process may still take it."""
    return free_ports(1)[0]


def free_ports(count: int) -> tuple[int, ...]:
    """`count` different free TCP ports, held together while they are chosen."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((LOOPBACK, 0))
        return tuple(each.getsockname()[1] for each in sockets)


def is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now."""
    with socket.socket() as probe:
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def accepts(port: int) -> bool:
    """Whether something listens on this loopback port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((LOOPBACK, port)) == 0


def answers(url: str) -> bool:
    """Whether an HTTP server gives any answer but a 5xx at this URL."""
    try:
        with urllib.request.urlopen(url, timeout=1):
            return True
    except urllib.error.HTTPError as refusal:
        return refusal.code < 500
    except OSError:
        return False


def find_program(name: str, *directories: Path) -> Path:
    """The program beside this interpreter, on PATH or in one of `directories`, in that order."""
    beside = Path(sys.executable).parent
    for candidate in (
        shutil.which(name, path=str(beside)),
        shutil.which(name),
        *(shutil.which(name, path=str(each)) for each in directories),
    ):
        if candidate is not None:
            return Path(candidate)
    places = ", ".join(str(each) for each in (beside, "PATH", *directories))
    raise ServerFailed(f"the program {name!r} is in none of: {places}")


@contextlib.contextmanager
def serving(
    command: Sequence[str],
    *,
    log: Path,
    ready: Callable[[], bool],
    directory: Path | None = None,
    environment: Mapping[str, str] | None = None,
    deadline: float = 30.0,
) -> Iterator[ServerProcess]:
    """Run `command` until the block ends; the block starts once `ready()` is true.

    `environment` is added to this process's own. Raises ServerFailed, with the end of the
    log, when the server ends early or is not ready within `deadline` seconds.
    """
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=directory,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
    try:
        _await_ready(command[0], process, ready, log, deadline)
        yield ServerProcess(pid=process.pid, log=log)
    finally:
        _end(process)


def peak_of(process: subprocess.Popen[str]) -> int:
    """Bytes of resident memory at its highest, watched until it ends.

    `getrusage` would do, were a child's peak not at least what its parent had at the fork.
    """
    peak = 0
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        with contextlib.suppress(OSError, IndexError):
            peak = int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024
        time.sleep(POLL_SECONDS)
    return peak


def _await_ready(
    name: str,
    process: subprocess.Popen[bytes],
    ready: Callable[[], bool],
    log: Path,
    deadline: float,
) -> None:
    last = time.monotonic() + deadline
    while not ready():
        if process.poll() is not None:
            raise ServerFailed(_explain(name, f"ended with {process.returncode}", log))
        if time.monotonic() > last:
            raise ServerFailed(_explain(name, f"did not answer in {deadline:g} s", log))
        time.sleep(POLL_SECONDS)


def _explain(name: str, what: str, log: Path) -> str:
    tail = log.read_bytes()[-LOG_TAIL_BYTES:].decode(errors="replace").strip()
    return f"{name} {what}; its log ends:\n{tail or '(nothing)'}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the whole group at once: test servers keep nothing worth a graceful stop.

    The group outlives its leader, so it is killed even when the leader has ended already.
    """
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
