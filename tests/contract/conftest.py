"""The `store` fixture: every test of this folder runs once for every store."""

from __future__ import annotations

from pathlib import Path

import pytest

from stager.storage.store import ObjectStore
from tests.conftest import bucket_name
from tests.contract.stores import NOT_HERE, STORES, Place


@pytest.fixture(params=[*STORES, *NOT_HERE])
def store_name(request: pytest.FixtureRequest) -> str:
    """Which store this is; what cannot run here is skipped by name."""
    name = str(request.param)
    if name in NOT_HERE:
        pytest.skip(f"{name}: {NOT_HERE[name]}")
    return name


@pytest.fixture
def store(request: pytest.FixtureRequest, store_name: str, tmp_path: Path) -> ObjectStore:
    """An empty store; its URL ends in the name of the test."""
    place = Place(
        folder=tmp_path,
        name=bucket_name(request.node.nodeid),
        server=lambda: request.getfixturevalue("s3_server"),
    )
    return STORES[store_name](place)
