"""How much goes on at once."""

from __future__ import annotations

import os
from dataclasses import dataclass

from stager.errors import ConfigError

PROCESSORS = len(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True)
class TransferOptions:
    """Threads that move bytes at most, threads that compress, uploads in flight.

    How many of the connections are used is found while running (storage/adaptive.py).

    An upload holds a pack of 24 MiB twice, an encoder a few frames; the defaults keep a
    push under 400 MB on two processors and grow to 4 uploads and 8 encoders.
    """

    connections: int = min(64, max(16, 4 * PROCESSORS))
    encoders: int = min(8, PROCESSORS)
    uploads: int = min(4, 1 + PROCESSORS // 2)

    def validate(self) -> None:
        """ConfigError for a value that cannot work."""
        for name in ("connections", "encoders", "uploads"):
            if not 1 <= getattr(self, name) <= 256:
                raise ConfigError(key=name, reason="between 1 and 256")
