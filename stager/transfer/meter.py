"""How much went over the wire, and what held the work back."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from stager.events import Event, Requested

KINDS = ("get", "list", "head", "put", "delete")
SMALL_TRANSFER = 256 * 1024


class Meter:
    """Adds up requests, bytes, and the thread-seconds spent per resource."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.sent = 0
        self.received = 0
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._began = time.perf_counter()
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        """Is a Listener: counts the requests."""
        if isinstance(event, Requested):
            with self._lock:
                self.requests[event.kind] += 1
                self.sent += event.sent
                self.received += event.received
                self._seconds["network"] += event.seconds

    @contextmanager
    def spent_on(self, resource: str) -> Iterator[None]:
        """Times a piece of work on `cpu` or `disk`."""
        began = time.perf_counter()
        try:
            yield
        finally:
            elapsed = time.perf_counter() - began
            with self._lock:
                self._seconds[resource] += elapsed

    @property
    def seconds(self) -> float:
        """Wall time since the meter was made."""
        return time.perf_counter() - self._began

    def by_kind(self) -> dict[str, int]:
        """Requests of every kind, zeros included."""
        return {kind: self.requests[kind] for kind in KINDS}

    def limit(self) -> str:
        """network, requests, disk or cpu: where most thread-seconds went.

        Network time counts as `requests` when the average request moved too little for
        bandwidth to matter. `none` when nothing was moved.
        """
        if not self._seconds:
            return "none"
        resource = max(self._seconds, key=lambda name: self._seconds[name])
        moves = self.requests["get"] + self.requests["put"]
        total = self.sent + self.received
        if resource == "network" and total < SMALL_TRANSFER * max(1, moves):
            return "requests"
        return resource
