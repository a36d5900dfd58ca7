"""What happened, as values.

Layers below report facts by calling a Listener; who listens decides what becomes of them
(a progress bar, a counter, a log line). Skips and retries are events, never errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requested:
    """One request went over the wire; `sent` and `received` are body bytes."""

    kind: str  # get | list | head | put | delete
    key: str
    sent: int
    received: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Retried:
    """A transient failure; the request is sent again after `delay` seconds."""

    kind: str
    key: str
    attempt: int
    delay: float
    reason: str


@dataclass(frozen=True, slots=True)
class Began:
    """A phase of known size starts; `unit` is what `total` counts (bytes, files)."""

    phase: str
    total: int
    unit: str = "bytes"


@dataclass(frozen=True, slots=True)
class Advanced:
    """The current phase is `amount` units further."""

    amount: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """Blocked on a lock that another process holds."""

    what: str
    holder: str


@dataclass(frozen=True, slots=True)
class Noted:
    """Worth telling, nothing to worry about."""

    text: str


@dataclass(frozen=True, slots=True)
class Warned:
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
