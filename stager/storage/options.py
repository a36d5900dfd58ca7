"""What a connection to a store can be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stager.errors import ConfigError
from stager.storage.credentials.values import CredentialOptions

TRANSPORTS = ("auto", "fsspec")
ADDRESSINGS = ("auto", "path", "virtual", "cname")
NETWORKS = ("public", "internal", "accelerate")


@dataclass(frozen=True, slots=True)
class StorageOptions:
    """Endpoint, credentials and limits of a remote."""

    endpoint: str = ""
    region: str = ""
    addressing: str = "auto"
    network: str = "public"  # which of a vendor's endpoints, where only the region is told
    anonymous: bool = False  # unsigned requests, for public buckets
    transport: str = "auto"
    stall_seconds: float = 30.0  # without one byte of progress
    attempts: int = 6
    requests_at_once: int = 64
    places: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    credentials: CredentialOptions = field(default_factory=CredentialOptions)

    def place(self, vendor: str) -> tuple[str, str]:
        """Endpoint and region for a vendor: settings first, then the vendor's own variables."""
        endpoint, region = self.places.get(vendor, ("", ""))
        return self.endpoint or endpoint, self.region or region

    def validate(self) -> None:
        """ConfigError for a value that cannot work."""
        known = {"transport": TRANSPORTS, "addressing": ADDRESSINGS, "network": NETWORKS}
        for name, values in known.items():
            if getattr(self, name) not in values:
                raise ConfigError(key=name, reason=f"one of {', '.join(values)}")
        for name in ("stall_seconds", "attempts", "requests_at_once"):
            if not getattr(self, name) > 0:  # NaN is not above 0 either
                raise ConfigError(key=name, reason="must be above 0")
