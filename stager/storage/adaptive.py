"""As many requests at once as the link and the store take: more while that moves more.

Every window of finished requests is one measurement: how much was moved a second, with how
many at once. More was better: try more. It made no difference: stay. It was worse: go back.
A store that asks to slow down halves the number at once, and requests that suddenly take
several times as long without moving more take a quarter of it (as TCP's congestion control,
additive increase and multiplicative decrease; here the step is a quarter, because a window
takes seconds, not a round trip).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from stager.errors import StorageThrottled
from stager.storage.resilient import Wrapper
from stager.storage.store import ObjectStore

T = TypeVar("T")

BEGIN = 8
WINDOW_SECONDS = 0.5
BETTER = 1.05  # times what was moved before, to be worth another step
WORSE = 0.8
COLLAPSED = 4.0  # times the seconds a byte took at best
REQUEST_COST = 64 * 1024  # bytes that a request counts as, beside its body
REST_SECONDS = 1.0  # after a shrinking: answers on their way say the same again
PROBE_WINDOWS = 20  # a link that got better is noticed after so many quiet windows


class Adaptive(Wrapper):
    """Admits requests to `inner`, at most `most` at once, fewer when that is as good."""

    def __init__(
        self, inner: ObjectStore, most: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(inner)
        self.pace = Pace(most)
        self._clock = clock
        self._running = 0
        self._turn = threading.Condition()

    def around(self, kind: str, key: str, call: Callable[[], T], sent: int = 0) -> T:
        """Waits for a slot; what the request moved and took is a sample."""
        with self._turn:
            while self._running >= self.pace.limit:
                self._turn.wait()
            self._running += 1
            busy = self._running >= self.pace.limit
        began = self._clock()
        moved, throttled = 0, False
        try:
            result = call()
            moved = sent + REQUEST_COST
            moved += len(result) if isinstance(result, (bytes, bytearray, memoryview)) else 0
            return result
        except StorageThrottled:
            throttled = True
            raise
        finally:
            now = self._clock()
            with self._turn:
                self._running -= 1
                if throttled:
                    self.pace.slow_down(now)
                else:
                    self.pace.sample(now, moved, now - began, busy)
                self._turn.notify(max(1, self.pace.limit - self._running))


class Pace:
    """The number of requests at once, and what it is made from. Not locked."""

    def __init__(self, most: int) -> None:
        self.limit = min(BEGIN, most)
        self._most = most
        self._refused_at = most + 1  # the least limit at which the store asked to slow down
        self._window = _Window()
        self._step: tuple[int, float] | None = None  # limit before the last step, and its rate
        self._best_wait: dict[int, float] = {}  # by size of request: seconds a byte
        self._quiet = 0
        self._rests_until = 0.0

    def slow_down(self, now: float) -> None:
        """The store asked for less: half, once for all the answers that say so together."""
        if now >= self._rests_until:
            self._refused_at = self.limit
            self._shrink(max(1, self.limit // 2), now)

    def sample(self, now: float, moved: int, seconds: float, busy: bool) -> None:
        """One finished request: bytes, seconds, and whether every slot was taken."""
        window = self._window
        window.add(now - seconds, moved, seconds, busy)
        if now - window.since < WINDOW_SECONDS or window.requests < self.limit:
            return
        self._window = _Window(now)
        if now >= self._rests_until and window.busy * 2 >= window.requests:
            self._decide(window, now)

    def _decide(self, window: _Window, now: float) -> None:
        rate = window.moved / (now - window.since)
        base, before = self._step or (self.limit, 0.0)
        if self._collapsed(window) and rate < before * BETTER:
            self._shrink(max(1, self.limit * 3 // 4), now)
        elif rate > before * BETTER:
            self._grow(rate, self._refused_at - 1)
        elif self.limit > base:
            self.limit = base
        else:
            self._quiet += 1
            if self._quiet >= PROBE_WINDOWS:
                self._refused_at = self._most + 1
                self._grow(rate, self._most)

    def _collapsed(self, window: _Window) -> bool:
        """Whether bytes take several times what they took at best, in requests of such a size."""
        wait = window.seconds / max(1, window.moved)
        size = (window.moved // window.requests).bit_length() // 2
        best = min(wait, self._best_wait.get(size, wait))
        collapsed = wait > COLLAPSED * best
        self._best_wait[size] = wait if collapsed else best  # what is normal from now on
        return collapsed

    def _grow(self, rate: float, most: int) -> None:
        self._step = (self.limit, rate)
        self.limit = max(self.limit, min(most, self._most, self.limit + max(1, self.limit // 4)))
        self._quiet = 0

    def _shrink(self, limit: int, now: float) -> None:
        self.limit = limit
        self._step = None
        self._quiet = 0
        self._rests_until = now + REST_SECONDS
        self._window = _Window(now)


class _Window:
    """What was finished since a moment."""

    def __init__(self, since: float | None = None) -> None:
        self.since = since if since is not None else float("inf")
        self.moved = 0
        self.requests = 0
        self.seconds = 0.0
        self.busy = 0

    def add(self, began: float, moved: int, seconds: float, busy: bool) -> None:
        self.since = min(self.since, began) if self.since == float("inf") else self.since
        self.moved += moved
        self.requests += 1
        self.seconds += seconds
        self.busy += busy
