"""How much goes on at once."""

from __future__ import annotations

from dataclasses import dataclass

from stager.errors import ConfigError


@dataclass(frozen=True, slots=True)
class TransferOptions:
    """Threads that move bytes, threads that compress, uploads in flight."""

    connections: int = 8
    encoders: int = 2
    uploads: int = 3

    def validate(self) -> None:
        """ConfigError for a value that cannot work."""
        for name in ("connections", "encoders", "uploads"):
            if not 1 <= getattr(self, name) <= 256:
                raise ConfigError(key=name, reason="between 1 and 256")
