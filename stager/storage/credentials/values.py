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

    def same_keys(self, other: Credentials) -> bool:
        """Whether a store could not tell them apart."""
        return self[:3] == other[:3]


@dataclass(frozen=True, slots=True)
class CredentialOptions:
    """Where to look: given keys, a snapshot of the environment, the files of a home.

    `profile` is looked for in the vendors' files. `metadata_endpoint` and `sts_endpoint`
    (URLs) stand in for the addresses of an instance's metadata and of the token service.
    """

    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    home: Path = Path("/nonexistent")
    profile: str = ""
    access_key_id: str = ""
    secret_access_key: Secret = field(default_factory=Secret)
    session_token: Secret = field(default_factory=Secret)
    metadata_endpoint: str = ""
    sts_endpoint: str = ""

    def shown(self, path: Path) -> str:
        """A path as people write it, from the home."""
        if path.is_relative_to(self.home):
            return f"~/{path.relative_to(self.home)}"
        return str(path)
