"""Create-only writes on stores that may not honour them.

Some stores ignore `If-None-Match: *` and answer 200 over an existing object. `probe` asks
once per remote, by creating the same key twice; the answer is kept in `stager.json`. On a
store that ignores the condition, or whose capabilities say that racers can both succeed,
NonceCreate looks first, writes, waits, and reads back: whoever finds the own bytes has won.
Two writers inside the settling time can both find theirs only if the later write reached the
store after the earlier one's read-back, which the wait makes unlikely, not impossible; the
caller says so to the user. What is created only is always one PUT, never a multipart upload.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable

from stager.errors import ObjectNotFound, PreconditionFailed
from stager.model.layout import PROBES
from stager.storage.resilient import Wrapper
from stager.storage.store import Data, ObjectStore

SETTLE_SECONDS = 2.0


def probe(store: ObjectStore) -> bool:
    """Whether the store refuses to create a key that exists; leaves nothing behind."""
    key = f"{PROBES}{os.urandom(8).hex()}"
    store.create(key, b"first")
    try:
        store.create(key, b"second")
    except PreconditionFailed:
        return True
    finally:
        store.delete([key])
    return False


def settle(
    store: ObjectStore, key: str, data: Data, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Waits for writers that began before us; PreconditionFailed when one of them has won."""
    sleep(SETTLE_SECONDS)
    if bytes(store.get(key)) != bytes(data):
        raise PreconditionFailed(url=f"{store.url}/{key}")


class NonceCreate(Wrapper):
    """create() by looking, writing, settling and reading back. Content must be unique."""

    def __init__(self, inner: ObjectStore, sleep: Callable[[float], None] = time.sleep) -> None:
        super().__init__(inner)
        self._sleep = sleep

    def create(self, key: str, data: Data) -> str:
        """PreconditionFailed when the key exists or another writer's bytes won."""
        with contextlib.suppress(ObjectNotFound):
            self.inner.head(key)
            raise PreconditionFailed(url=f"{self.url}/{key}")
        etag = self.inner.create(key, data)
        settle(self.inner, key, data, self._sleep)
        return etag
