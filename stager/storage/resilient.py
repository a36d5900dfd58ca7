"""Wrappers that add one behaviour each to any store: counting and retrying.

Stacked in one place, connect.py: Retrying(Adaptive(Counted(store))). So a retry waits
without holding a slot, and every attempt on the wire is counted.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from stager.errors import CredentialsExpired, PreconditionFailed, StagerError, StorageError
from stager.events import Listener, Requested, Retried
from stager.storage.store import Data, ObjectInfo, ObjectStore

T = TypeVar("T")

FIRST_DELAY = 0.1
LONGEST_DELAY = 15.0
PAGE = 1000
ROUNDS = 3  # a page that comes twice, and a listing begun again, are forgiven
RENEWALS = 3  # of one request: a long transfer may outlive its token more than once
AFTER_RENEWAL = 0.2  # seconds; obstore asks for credentials at most every 0.1 s


class Wrapper:
    """Passes everything on; subclasses override what they change."""

    def __init__(self, inner: ObjectStore) -> None:
        self.inner = inner
        self.url = inner.url
        self.capabilities = inner.capabilities

    def get(self, key: str, start: int = 0, end: int | None = None, if_match: str = "") -> Data:
        """See ObjectStore.get."""
        return self.around("get", key, lambda: self.inner.get(key, start, end, if_match))

    def read(self, key: str, most: int) -> Data:
        """See ObjectStore.read."""
        return self.around("get", key, lambda: self.inner.read(key, most))

    def head(self, key: str) -> ObjectInfo:
        """See ObjectStore.head."""
        return self.around("head", key, lambda: self.inner.head(key))

    def put(self, key: str, data: Data) -> str:
        """See ObjectStore.put."""
        return self.around("put", key, lambda: self.inner.put(key, data), len(data))

    def create(self, key: str, data: Data) -> str:
        """See ObjectStore.create."""
        return self.around("put", key, lambda: self.inner.create(key, data), len(data))

    def put_stream(self, key: str, parts: Iterable[Data]) -> str:
        """See ObjectStore.put_stream."""
        return self.inner.put_stream(key, parts)

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """See ObjectStore.list."""
        return self.inner.list(prefix)

    def unfinished(self) -> Iterator[ObjectInfo]:
        """See ObjectStore.unfinished."""
        return self.inner.unfinished()

    def delete(self, keys: Iterable[str]) -> None:
        """See ObjectStore.delete."""
        batch = list(keys)
        self.around("delete", batch[0] if batch else "", lambda: self.inner.delete(batch))

    def around(self, kind: str, key: str, call: Callable[[], T], sent: int = 0) -> T:
        """Every operation that is one request passes here; `sent` is its body in bytes."""
        return call()


class Counted(Wrapper):
    """Tells the listener of every request, with body bytes and seconds."""

    def __init__(self, inner: ObjectStore, listener: Listener) -> None:
        super().__init__(inner)
        self._listener = listener

    def around(self, kind: str, key: str, call: Callable[[], T], sent: int = 0) -> T:
        """Times the call; a failed request counts as one too."""
        began = time.perf_counter()
        received = 0
        try:
            result = call()
            received = len(result) if kind == "get" and isinstance(result, _BUFFERS) else 0
            return result
        finally:
            self._listener(Requested(kind, key, sent, received, time.perf_counter() - began))

    def put_stream(self, key: str, parts: Iterable[Data]) -> str:
        """One request per part, as the store will make them, roughly."""
        return self.inner.put_stream(key, self._counted_parts(key, parts))

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """One request per page of 1000 keys, and one for an empty listing."""
        self._listener(Requested("list", prefix, 0, 0, 0.0))
        for at, info in enumerate(self.inner.list(prefix)):
            if at and at % PAGE == 0:
                self._listener(Requested("list", prefix, 0, 0, 0.0))
            yield info

    def _counted_parts(self, key: str, parts: Iterable[Data]) -> Iterator[Data]:
        for part in parts:
            self._listener(Requested("put", key, len(part), 0, 0.0))
            yield part


class Renewal(Protocol):
    """What Retrying needs of whoever holds the credentials."""

    def current(self) -> object:
        """The credentials in use; AccessDenied when there are none."""
        ...

    def renew(self, than: Any) -> bool:
        """Looks for newer ones than those; whether they differ."""
        ...


class Retrying(Wrapper):
    """Tries again what is transient, with full-jitter backoff; everything else stops at once.

    Credentials that the store calls expired are renewed, and the request is made again with
    the new ones; when none are found that differ, the failure stands, for all that wait.

    A create-only write whose answer was lost may have happened: on PreconditionFailed after
    a retry the object is read back, and content equal to ours counts as success.
    """

    def __init__(
        self,
        inner: ObjectStore,
        attempts: int,
        listener: Listener,
        sleep: Callable[[float], None] = time.sleep,
        renewal: Renewal | None = None,
    ) -> None:
        super().__init__(inner)
        self._attempts = attempts
        self._listener = listener
        self._sleep = sleep
        self._renewal = renewal

    def around(self, kind: str, key: str, call: Callable[[], T], sent: int = 0) -> T:
        """Up to `attempts` tries."""
        tries = self._tries(kind, key)
        while True:
            used = self._credentials()
            try:
                return call()
            except StagerError as problem:
                if not tries.again(problem, used):
                    raise

    def create(self, key: str, data: Data) -> str:
        """See ObjectStore.create, and the class docstring for a lost answer."""
        tries = 0

        def attempt() -> str:
            nonlocal tries
            tries += 1
            return self.inner.create(key, data)

        try:
            return self.around("put", key, attempt, len(data))
        except PreconditionFailed:
            if tries > 1 and bytes(self.get(key)) == bytes(data):
                return self.head(key).etag
            raise

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """A listing that breaks is begun again; keys that were given are not given twice.

        StorageError for one that goes round in circles.
        """
        given: set[str] = set()
        tries = self._tries("list", prefix)
        while True:
            used = self._credentials()
            try:
                yield from self._new(prefix, given)
                return
            except StagerError as problem:
                if not tries.again(problem, used):
                    raise

    def _new(self, prefix: str, given: set[str]) -> Iterator[ObjectInfo]:
        """What one listing adds; a key that comes again and again says that it has no end."""
        mark, times = "", 0
        for info in self.inner.list(prefix):
            if info.key not in given:
                given.add(info.key)
                yield info
                continue
            mark = mark or info.key
            times += info.key == mark
            if times > ROUNDS:
                reason = f"the listing goes round in circles: {mark} came {times} times too often"
                raise StorageError(url=f"{self.url}/{prefix}", reason=reason)

    def put_stream(self, key: str, parts: Iterable[Data]) -> str:
        """Parts that can be iterated again are sent again; an iterator has one try."""
        if isinstance(parts, Iterator):
            return self.inner.put_stream(key, parts)
        return self.around("put", key, lambda: self.inner.put_stream(key, iter(parts)))

    def _credentials(self) -> object:
        return self._renewal.current() if self._renewal else None

    def _tries(self, kind: str, key: str) -> _Tries:
        return _Tries(self._attempts, self._sleep, self._renewal, self._listener, (kind, key))


@dataclass(slots=True)
class _Tries:
    """How often one request failed, and whether it may be made again."""

    attempts: int
    sleep: Callable[[float], None]
    renewal: Renewal | None
    listener: Listener
    request: tuple[str, str]
    made: int = 0
    renewed: int = 0

    def again(self, problem: StagerError, used: object) -> bool:
        """Waits until the next try; False when there is none.

        It does not raise: an error raised where it is also a variable refers to itself through
        its traceback, and keeps the buffers of all callers until the garbage collector runs.
        """
        if isinstance(problem, CredentialsExpired):
            self.renewed += 1
            newer = self.renewal is not None and self.renewal.renew(used)
            if not newer or self.renewed > RENEWALS:
                return False
            delay = AFTER_RENEWAL
        else:
            self.made += 1
            if not problem.transient or self.made >= self.attempts:
                return False
            delay = min(LONGEST_DELAY, FIRST_DELAY * 2**self.made) * random.random()
        self.listener(Retried(*self.request, self.made + self.renewed, delay, str(problem)))
        self.sleep(delay)
        return True


_BUFFERS = (bytes, bytearray, memoryview)
