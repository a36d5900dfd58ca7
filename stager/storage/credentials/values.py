"""Credentials, and where they may be looked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from stager.storage.secret import Secret


class Credentials(NamedTuple):
    """Keys, until when they hold (seconds since the epoch), and where they were found."""

    access_key_id: str
    secret_access_key: Secret
    session_token: Secret
    expires: float | None
    source: str


@dataclass(frozen=True, slots=True)
class CredentialOptions:
    """Where to look."""

    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    home: Path = Path("/nonexistent")
    profile: str = ""
    access_key_id: str = ""
    secret_access_key: Secret = field(default_factory=Secret)
    session_token: Secret = field(default_factory=Secret)
    metadata_endpoint: str = ""
