"""Wrappers that add one behaviour each to any store: counting, limiting, retrying.

Stacked in one place, connect.py: Retrying(Limited(Counted(store))). So a retry waits
without holding a slot, and every attempt on the wire is counted.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from stager.errors import PreconditionFailed, StagerError
from stager.events import Listener, Requested, Retried
from stager.storage.store import Data, ObjectInfo, ObjectStore

T = TypeVar("T")

FIRST_DELAY = 0.1
LONGEST_DELAY = 15.0
PAGE = 1000


class Wrapper:
    """Passes everything on; subclasses override what they change."""

    def __init__(self, inner: ObjectStore) -> None:
        self.inner = inner
        self.url = inner.url
        self.capabilities = inner.capabilities

    def get(self, key: str, start: int = 0, end: int | None = None, if_match: str = "") -> Data:
        """See ObjectStore.get."""
        return self.around("get", key, lambda: self.inner.get(key, start, end, if_match))

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


class Limited(Wrapper):
    """At most `at_once` requests in flight, whoever asks."""

    def __init__(self, inner: ObjectStore, at_once: int) -> None:
        super().__init__(inner)
        self._slots = threading.BoundedSemaphore(at_once)

    def around(self, kind: str, key: str, call: Callable[[], T], sent: int = 0) -> T:
        """Waits for a slot."""
        with self._slots:
            return call()


class Retrying(Wrapper):
    """Tries again what is transient, with full-jitter backoff; everything else stops at once.

    A create-only write whose answer was lost may have happened: on PreconditionFailed after
    a retry the object is read back, and content equal to ours counts as success.
    """

    def __init__(
        self,
        inner: ObjectStore,
        attempts: int,
        listener: Listener,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(inner)
        self._attempts = attempts
        self._listener = listener
        self._sleep = sleep

    def around(self, kind: str, key: str, call: Callable[[], T], sent: int = 0) -> T:
        """Up to `attempts` tries."""
        for attempt in range(1, self._attempts + 1):
            try:
                return call()
            except StagerError as problem:
                if not problem.transient or attempt == self._attempts:
                    raise
                delay = min(LONGEST_DELAY, FIRST_DELAY * 2**attempt) * random.random()
                self._listener(Retried(kind, key, attempt, delay, str(problem)))
                self._sleep(delay)
        raise AssertionError("unreachable: the last attempt returns or raises")

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
        """A listing that breaks is begun again; keys that were given are not given twice."""
        given: set[str] = set()
        for attempt in range(1, self._attempts + 1):
            try:
                for info in self.inner.list(prefix):
                    if info.key not in given:
                        given.add(info.key)
                        yield info
                return
            except StagerError as problem:
                if not problem.transient or attempt == self._attempts:
                    raise
                self._listener(Retried("list", prefix, attempt, FIRST_DELAY, str(problem)))
                self._sleep(FIRST_DELAY * 2**attempt * random.random())

    def put_stream(self, key: str, parts: Iterable[Data]) -> str:
        """Parts that can be iterated again are sent again; an iterator has one try."""
        if isinstance(parts, Iterator):
            return self.inner.put_stream(key, parts)
        return self.around("put", key, lambda: self.inner.put_stream(key, iter(parts)))


_BUFFERS = (bytes, bytearray, memoryview)
