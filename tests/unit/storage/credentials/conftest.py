"""A home without files, and a cloud that hands out credentials."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stager.storage.credentials.values import CredentialOptions
from tests.support.identity import Cloud, identity_server

Write = Callable[[str, str], Path]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home."""
    return tmp_path


@pytest.fixture
def write(home: Path) -> Write:
    """Writes a file below the home."""

    def written(name: str, text: str) -> Path:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return written


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    """Metadata and token services on loopback."""
    with identity_server() as server:
        yield server


@pytest.fixture
def options(home: Path, cloud: Cloud) -> Callable[..., CredentialOptions]:
    """Options with that home and that cloud; variables by name, fields below `given`."""

    def made(given: dict[str, object] | None = None, **environ: str) -> CredentialOptions:
        fields = {"metadata_endpoint": cloud.url, "sts_endpoint": cloud.url, **(given or {})}
        return CredentialOptions(environ=environ, home=home, **fields)  # type: ignore[arg-type]

    return made
