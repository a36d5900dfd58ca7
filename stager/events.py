"""What happened, as values.

Layers below report facts by calling a Listener; who listens decides what becomes of them
(a progress bar, a counter, a log line). Skips and retries are events, never errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Requested(NamedTuple):
    """One request went over the wire; `sent` and `received` are body bytes."""

    kind: str  # get | list | head | put | delete
    key: str
    sent: int
    received: int
    seconds: float


class Retried(NamedTuple):
    """A transient failure; the request is sent again after `delay` seconds."""

    kind: str
    key: str
    attempt: int
    delay: float
    reason: str


class Began(NamedTuple):
    """A phase of known size starts; `unit` is what `total` counts (bytes, files)."""

    phase: str
    total: int
    unit: str = "bytes"


class Advanced(NamedTuple):
    """The current phase is `amount` units further."""

    amount: int


class Waiting(NamedTuple):
    """Blocked on a lock that another process holds."""

    what: str
    holder: str


class Noted(NamedTuple):
    """Worth telling, nothing to worry about."""

    text: str


class Warned(NamedTuple):
    """Something the user should look at, though the work goes on."""

    text: str


Event = Requested | Retried | Began | Advanced | Waiting | Noted | Warned
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """The listener of callers that do not care."""


def both(first: Listener, second: Listener) -> Listener:
    """A listener that tells two others, in order."""

    def tell(event: Event) -> None:
        first(event)
        second(event)

    return tell
