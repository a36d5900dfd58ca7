"""Where a forked command dies or meets a broken disk: at its n-th step, counted as it goes.

    storage:before:3    dies before the 3rd operation of any store, as one kills a process
    storage:after:3     dies when it is done, before anybody is told
    disk:die:7          dies before the 7th change of a file's name, or opening to write
    disk:EIO:7          that change fails instead; any errno by its name
    disk:ENOSPC+:7      that change fails and all that follow
    call:fsync:EIO:2    the 2nd call of os.fsync fails; pwrite, write, close likewise

Set in a child only: they replace parts of the interpreter they run in. Steps of the disk are
counted below the folder that is given, by the audit events of CPython
(https://docs.python.org/3/library/audit_events.html), which come before the step. A trap that
is sprung writes a byte to the descriptor it was given.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from stager.storage import connect
from stager.storage.resilient import Wrapper
from stager.storage.store import Data, ObjectInfo, ObjectStore

T = TypeVar("T")
Strike = Callable[[str], None]

DIED = 99
WRITING = os.O_WRONLY | os.O_RDWR
NAMES = {"os.rename": 2, "os.link": 2, "os.remove": 1, "os.mkdir": 1, "os.rmdir": 1}


class Countdown:
    """Calls `strike` at the n-th step, or with `lasting` from then on; many threads step."""

    def __init__(self, steps: int, strike: Strike, sprung: int, lasting: bool = False) -> None:
        self._left = steps
        self._strike = strike
        self._sprung = sprung
        self._lasting = lasting
        self._write = os.write  # as it is before a trap replaces it
        self._lock = threading.Lock()

    def __call__(self, path: str = "") -> None:
        """One step, at this path where it has one."""
        with self._lock:
            self._left -= 1
            due = self._left == 0 or (self._lasting and self._left < 0)
        if due:
            self._write(self._sprung, b"!")
            self._strike(path)


class Deadly(Wrapper):
    """A store whose user dies before or after one of its operations."""

    def __init__(self, inner: ObjectStore, step: Countdown, before: bool) -> None:
        super().__init__(inner)
        self._before = step if before else _nothing
        self._after = _nothing if before else step

    def around(self, kind: str, key: str, call: Callable[[], T], sent: int = 0) -> T:
        """Steps on one side of the call; of those that fail too."""
        self._before()
        try:
            return call()
        finally:
            self._after()

    def put_stream(self, key: str, parts: Iterable[Data]) -> str:
        """Every part is a step, and the end."""
        return self.around("put", key, lambda: self.inner.put_stream(key, self._stepped(parts)))

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """The first key is a step, and the end."""
        self._before()
        yield from self.inner.list(prefix)
        self._after()

    def unfinished(self) -> Iterator[ObjectInfo]:
        """As list."""
        self._before()
        yield from self.inner.unfinished()
        self._after()

    def delete(self, keys: Iterable[str]) -> None:
        """Every key by itself: a store deletes one after the other."""
        for key in keys:
            self.around("delete", key, lambda key=key: self.inner.delete([key]))  # type: ignore[misc]

    def _stepped(self, parts: Iterable[Data]) -> Iterator[Data]:
        for part in parts:
            self._before()
            yield part
            self._after()


def set_trap(text: str, folder: str, sprung: int) -> None:
    """Sets what the module's docstring describes; `sprung` is a descriptor."""
    kind, *words, number = text.split(":")
    what = words[-1]
    strike = _die if kind == "storage" or what == "die" else _failing(what.rstrip("+"))
    step = Countdown(int(number), strike, sprung, what.endswith("+"))
    match kind:
        case "storage":
            _trap_storage(step, what == "before")
        case "disk":
            _trap_disk(step, folder)
        case "call":
            _trap_call(words[0], step)
        case _:
            raise ValueError(text)


def _die(_: str) -> None:
    os._exit(DIED)


def _nothing() -> None:
    pass


def _failing(name: str) -> Strike:
    number = getattr(errno, name)

    def fail(path: str) -> None:
        raise OSError(number, os.strerror(number), *([path] if path else []))

    return fail


def _trap_storage(step: Countdown, before: bool) -> None:
    bare = connect._bare

    def trapped(*arguments: Any) -> ObjectStore:
        return Deadly(bare(*arguments), step, before)

    connect._bare = trapped


def _trap_disk(step: Countdown, folder: str) -> None:
    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if not (isinstance(flags, int) and flags & WRITING):
                return
        elif event in NAMES:
            path = arguments[NAMES[event] - 1]
        else:
            return
        if isinstance(path, (str, os.PathLike)) and os.fspath(path).startswith(folder):
            step(os.fspath(path))

    sys.addaudithook(hook)


def _trap_call(name: str, step: Countdown) -> None:
    real = getattr(os, name)

    def trapped(descriptor: int, *arguments: Any) -> Any:
        if descriptor > 2:  # not the streams that say what happened
            step()
        return real(descriptor, *arguments)

    setattr(os, name, trapped)
