"""Objects that a push finds in its place, beside a collection of garbage.

Nothing refers to them, or the push would not send them; so `gc` may be about to delete
them. A young one is safe: `gc` spares it for longer than a push may take. An old one is sent
again, which makes it young. What is left is a `gc` that looked at the old one just before,
and deletes just after: it acts on a look for WINDOW_SECONDS at most, so a push that renewed
something waits SETTLE_SECONDS and looks once more before it refers to it.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator

from stager.catalog import clock
from stager.errors import ObjectNotFound, StorageError
from stager.model.layout import FRESH_SECONDS
from stager.storage.store import ObjectStore

WINDOW_SECONDS = 2.0
SETTLE_SECONDS = 6.0


class Renewal:
    """What one push found, and what it must look at again. Used by many threads."""

    def __init__(self, store: ObjectStore, sleep: Callable[[float], None] = time.sleep) -> None:
        self._store = store
        self._sleep = sleep
        self._renewed: dict[str, int] = {}
        self._ahead: float | None = None  # of the store's clock before this machine's
        self._lock = threading.Lock()

    def is_there(self, key: str, size: int) -> bool:
        """Whether the object need not be sent; it is named by content and appears whole.

        False for one that is not young: it must be sent, and is noted for `settled`.
        """
        try:
            found = self._store.head(key)
        except ObjectNotFound:
            return False
        if found.size == size and self._age(found.modified) < FRESH_SECONDS:
            return True
        with self._lock:
            self._renewed[key] = size
        return False

    def settled(self) -> Iterator[str]:
        """Keys to `check`, once the time has passed; most pushes have none and do not wait."""
        if self._renewed:
            self._sleep(SETTLE_SECONDS)
        yield from self._renewed

    def check(self, key: str) -> None:
        """StorageError when the object that was sent again is gone: the push is repeated."""
        with contextlib.suppress(ObjectNotFound):
            if self._store.head(key).size == self._renewed[key]:
                return
        raise StorageError(
            url=f"{self._store.url}/{key}",
            reason="a collection of garbage took it while it was sent again",
            hint="push again: what was sent is kept",
        )

    def _age(self, modified: float) -> float:
        with self._lock:
            if self._ahead is None:
                at = clock.now(self._store)
                self._ahead = at - time.time() if at else math.inf
        return time.time() + self._ahead - modified
