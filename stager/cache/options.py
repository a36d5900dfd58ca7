"""What the cache can be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stager.errors import ConfigError

DEFAULT_FLOOR = 1024**3


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """Where the cache is, and how much of its disk it leaves alone (bytes)."""

    path: Path
    free_floor: int = DEFAULT_FLOOR

    def validate(self) -> None:
        """ConfigError for a value that cannot work."""
        if self.free_floor < 0:
            raise ConfigError(key="free_floor", reason="must not be negative")
