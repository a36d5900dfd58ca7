"""What a connection to a store can be told."""

from __future__ import annotations

from dataclasses import dataclass, field

from stager.errors import ConfigError

TRANSPORTS = ("auto", "fsspec")
ADDRESSINGS = ("path", "virtual")


class Secret:
    """Text that never shows itself: `str` and `repr` are `***`; `reveal` gives the value."""

    __slots__ = ("_value",)

    def __init__(self, value: str = "") -> None:
        self._value = value

    def __repr__(self) -> str:
        return "***" if self._value else "''"

    def __bool__(self) -> bool:
        return bool(self._value)

    def reveal(self) -> str:
        """The value itself, for the one who signs."""
        return self._value


@dataclass(frozen=True, slots=True)
class StorageOptions:
    """Endpoint, credentials and limits of a remote."""

    endpoint: str = ""
    region: str = ""
    addressing: str = "path"
    access_key_id: str = ""
    secret_access_key: Secret = field(default_factory=Secret)
    session_token: Secret = field(default_factory=Secret)
    transport: str = "auto"
    stall_seconds: float = 30.0  # without one byte of progress
    attempts: int = 6
    requests_at_once: int = 32

    def validate(self) -> None:
        """ConfigError for a value that cannot work."""
        if self.transport not in TRANSPORTS:
            raise ConfigError(key="transport", reason=f"one of {', '.join(TRANSPORTS)}")
        if self.addressing not in ADDRESSINGS:
            raise ConfigError(key="addressing", reason=f"one of {', '.join(ADDRESSINGS)}")
        for name in ("stall_seconds", "attempts", "requests_at_once"):
            if not getattr(self, name) > 0:  # NaN is not above 0 either
                raise ConfigError(key=name, reason="must be above 0")
