"""Leases: who still needs a staged version.

A lease is an empty file that names a version and a process:

    <cache>/locks/leases/<version>.<pid>.<start>.<pid namespace>.<boot>[.<token>]

It holds while that process lives. A pid that was given to another process since has another
start time, one from before a reboot another boot id; the files of dead processes are swept
when somebody looks. A process of another pid namespace, another container, cannot be seen
from here: its lease holds for UNSEEN_SECONDS from its last pull.

Whoever reads a version writes the lease first and looks for the version then; whoever
evicts takes the receipt away first and looks for leases then. So one of both sees the other.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from stager.cache.folders import Folders
from stager.model.digest import digest_of

UNSEEN_SECONDS = 7 * 24 * 3600
# As pid 1 these adopt processes whose parent has ended; they use no version.
INITS = frozenset(
    ("systemd", "init", "tini", "dumb-init", "docker-init", "catatonit", "s6-svscan", "runit")
)
_START = 19  # field 22 of /proc/<pid>/stat, counted from the one after the name
_ENDED = ("Z", "X")


class Process(NamedTuple):
    """A process, told apart from a later one of the same number.

    `start` in clock ticks since boot, `namespace` the inode of the pid namespace.
    """

    pid: int
    start: int
    namespace: int
    boot: str

    def lives(self) -> bool:
        """Whether it runs; only of a process of this pid namespace and boot."""
        try:
            return _start_of(self.pid) == self.start
        except FileNotFoundError:
            return _hidden(self.pid)


class Lease(NamedTuple):
    """A version's key, and the process that needs it."""

    key: str
    process: Process
    path: Path

    def holds(self, here: Process) -> bool:
        """Whether the version must stay, as seen from the process `here`."""
        if self.process.boot != here.boot:
            return False
        if self.process.namespace == here.namespace:
            return self.process.lives()
        return self._age() < UNSEEN_SECONDS

    def is_over(self, here: Process) -> bool:
        """Whether it can never hold again; one that cannot be seen may be renewed yet."""
        seen = here.boot != self.process.boot or here.namespace == self.process.namespace
        return not self.holds(here) and (seen or self._age() > 2 * UNSEEN_SECONDS)

    def _age(self) -> float:
        return time.time() - os.stat(self.path).st_mtime

    def holder(self, here: Process) -> str:
        """`process 4711 (bash)`"""
        if self.process.namespace != here.namespace:
            return f"process {self.process.pid} of another container"
        return named(self.process.pid)


class Lessee:
    """Leases versions to one process, or with pid 0 to nobody.

    Leases that do not last are this call's alone: `release` ends them, and nobody else's.
    """

    def __init__(self, folders: Folders, pid: int, lasting: bool = True) -> None:
        self.folders = folders
        self.process = process_at(pid) if pid else None
        self.token = "" if lasting else f".{os.urandom(6).hex()}"
        self.made: list[Path] = []

    def lease(self, name: str, version: str) -> None:
        """From here on the version stays, when it is here."""
        if self.process is None:
            return
        folder = self.folders.leases
        text = ".".join(map(str, self.process))
        path = folder / f"{_key(name, version)}.{text}{self.token}"
        try:
            if _create(path):
                self.made.append(path)
        except FileNotFoundError:
            folder.mkdir(parents=True, exist_ok=True)
            self.lease(name, version)

    def release(self) -> None:
        """Gives back what was not leased to the process before."""
        while self.made:
            self.made.pop().unlink(missing_ok=True)


@contextlib.contextmanager
def leased(folders: Folders, versions: Iterable[tuple[str, str]]) -> Iterator[None]:
    """Keeps versions from eviction while they are read here: (name, version) each."""
    lessee = Lessee(folders, os.getpid(), lasting=False)
    try:
        for name, version in versions:
            lessee.lease(name, version)
        yield
    finally:
        lessee.release()


def holders(folders: Folders, name: str, version: str, but: int = 0) -> list[str]:
    """Who leases the version, without the process `but`; dead leases are swept."""
    here = process_at(os.getpid())
    found: set[str] = set()
    for lease in _all(folders, f"{_key(name, version)}."):
        with contextlib.suppress(FileNotFoundError):
            if here is None or lease.holds(here):
                if lease.process.pid != but:
                    found.add(lease.holder(here or lease.process))
            elif lease.is_over(here):
                lease.path.unlink()
    return sorted(found)


def sweep(folders: Folders) -> None:
    """Removes the leases of all dead processes, of versions that are gone too."""
    here = process_at(os.getpid())
    for lease in _all(folders, ""):
        with contextlib.suppress(FileNotFoundError):
            if here is not None and lease.is_over(here):
                lease.path.unlink()


def process_at(pid: int) -> Process | None:
    """The process of this number here; None for one that ended, or that only adopts others."""
    try:
        start = _start_of(pid)
        if start is None or (pid == 1 and _name_of(pid) in INITS):
            return None
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return Process(pid, start, os.stat("/proc/self/ns/pid").st_ino, boot)
    except OSError:
        return None


def named(pid: int) -> str:
    """`process 4711 (bash)`"""
    with contextlib.suppress(OSError):
        return f"process {pid} ({_name_of(pid)})"
    return f"process {pid}"


def _all(folders: Folders, prefix: str) -> Iterator[Lease]:
    try:
        names = os.listdir(folders.leases)
    except FileNotFoundError:
        return
    for name in names:
        parts = name.split(".")
        if name.startswith(prefix) and len(parts) >= 5 and all(map(str.isdecimal, parts[1:4])):
            process = Process(int(parts[1]), int(parts[2]), int(parts[3]), parts[4])
            yield Lease(parts[0], process, folders.leases / name)


def _key(name: str, version: str) -> str:
    """Short, since a name and a label fill a file name by themselves."""
    return digest_of(f"{name}@{version}".encode()).hex[:32]


def _create(path: Path) -> bool:
    """Whether the file is new; one that was there counts as written now."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
        return True
    except FileExistsError:
        os.utime(path)
        return False


def _start_of(pid: int) -> int | None:
    """When it started, in clock ticks since boot; None when it has ended, a zombie too."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            facts = file.read().rpartition(b")")[2].split()
    except ProcessLookupError:  # it ended between opening and reading
        return None
    return None if facts[0].decode() in _ENDED else int(facts[_START])


def _name_of(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()


def _hidden(pid: int) -> bool:
    """Whether a process that /proc does not show, hidepid does that, is there all the same."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
