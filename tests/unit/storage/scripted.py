"""A store that fails by a script, one letter a request: the injector is a wrapper too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from stager.errors import (
    AccessDenied,
    CredentialsExpired,
    StorageThrottled,
    StorageUnavailable,
)
from stager.storage.resilient import Wrapper
from stager.storage.store import ObjectInfo, ObjectStore

T = TypeVar("T")


class Scripted(Wrapper):
    """`.` works, `T` fails before, `L` works but its answer is lost, `D` is denied,
    `S` is asked to slow down, `E` has credentials that are expired.

    A listing takes one letter for each object it would give, and breaks there on `T`.
    After the script everything works. `asked` holds (kind, key) of every request.
    """

    def __init__(self, inner: ObjectStore, script: str = "") -> None:
        super().__init__(inner)
        self.asked: list[tuple[str, str]] = []
        self._script = list(script)

    def around(self, kind: str, key: str, call: Callable[[], T], sent: int = 0) -> T:
        """One letter of the script."""
        self.asked.append((kind, key))
        letter = self._next()
        if letter == "T":
            raise StorageUnavailable(url=f"{self.url}/{key}", reason="503 by script")
        if letter == "D":
            raise AccessDenied(url=f"{self.url}/{key}", reason="403 by script")
        if letter == "S":
            raise StorageThrottled(url=f"{self.url}/{key}", reason="SlowDown by script")
        if letter == "E":
            raise CredentialsExpired(url=f"{self.url}/{key}", reason="ExpiredToken by script")
        result = call()
        if letter == "L":
            raise StorageUnavailable(url=f"{self.url}/{key}", reason="connection reset by script")
        return result

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """One letter of the script for each object."""
        self.asked.append(("list", prefix))
        for info in self.inner.list(prefix):
            letter = self._next()
            if letter == "T":
                raise StorageUnavailable(url=self.url, reason="503 by script")
            if letter == "E":
                raise CredentialsExpired(url=self.url, reason="ExpiredToken by script")
            yield info

    def _next(self) -> str:
        return self._script.pop(0) if self._script else "."
