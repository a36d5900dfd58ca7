"""Bytes on the wire: one relay before the server, the same for every peer.

What a tool says it moved is its own count; this one is of what passed, requests and headers
included. Set-up and proofs go to the server directly and are not counted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from tests.support.relay import Link, slow_link
from tests.support.s3_server import S3Server

GIGABIT = 1e9
UNLIMITED = math.inf
SETTLED_SECONDS = 0.05


class Carried(NamedTuple):
    """Bytes that clients sent and received."""

    sent: int
    received: int


@dataclass(frozen=True)
class Wire:
    """A server, and the relay through which timed runs reach it."""

    near: S3Server
    link: Link

    @property
    def far(self) -> S3Server:
        """The server as it is reached through the relay."""
        return dataclasses.replace(self.near, endpoint=self.link.endpoint)

    def carried(self) -> Carried:
        """All that passed until now, once nothing passes any more."""
        last = self.link.carried()
        while True:
            time.sleep(SETTLED_SECONDS)
            now = self.link.carried()
            if now == last:
                return Carried(*now)
            last = now


@contextlib.contextmanager
def wire(server: S3Server, bits_per_second: float) -> Iterator[Wire]:
    """A relay of this rate, UNLIMITED for one that only counts, until the block ends."""
    with slow_link(urlsplit(server.endpoint).port or 0, bits_per_second) as link:
        yield Wire(server, link)
