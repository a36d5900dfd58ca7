"""What the cache can be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stager.errors import ConfigError

DEFAULT_FLOOR = 1024**3


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """Where the cache is, how much of its disk it leaves alone, and how much it may take.

    Both in bytes; a `budget` of 0 is no limit.
    """

    path: Path
    free_floor: int = DEFAULT_FLOOR
    budget: int = 0

    def validate(self) -> None:
        """ConfigError for a value that cannot work."""
        for key in ("free_floor", "budget"):
            if getattr(self, key) < 0:
                raise ConfigError(key=key, reason="must not be negative")
