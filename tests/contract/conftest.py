"""The `store` fixture: every test of this folder runs once for every store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stager.storage.store import ObjectStore
from tests.conftest import bucket_name
from tests.contract.stores import STORES, Place
from tests.support.clouds.cos_server import CosServer, cos_server
from tests.support.clouds.oss_server import OssServer, oss_server


@pytest.fixture(scope="session")
def oss_cloud() -> Iterator[OssServer]:
    """One OSS for all tests of the contract."""
    with oss_server() as server:
        yield server


@pytest.fixture(scope="session")
def cos_cloud() -> Iterator[CosServer]:
    """One COS for all tests of the contract."""
    with cos_server() as server:
        yield server


@pytest.fixture(params=STORES)
def store_name(request: pytest.FixtureRequest) -> str:
    """Which store this is."""
    return str(request.param)


@pytest.fixture
def store(request: pytest.FixtureRequest, store_name: str, tmp_path: Path) -> ObjectStore:
    """An empty store, in a bucket or a folder named after the test."""

    def proxied(fixture: str) -> Any:
        """A cloud that this process reaches by the vendor's host names."""
        cloud = request.getfixturevalue(fixture)
        patch = request.getfixturevalue("monkeypatch")
        for name, value in cloud.environment().items():
            if "PROXY" in name.upper():
                patch.setenv(name, value)
        return cloud

    place = Place(
        folder=tmp_path,
        name=bucket_name(request.node.nodeid),
        server=lambda: request.getfixturevalue("s3_server"),
        oss=lambda: proxied("oss_cloud"),
        cos=lambda: proxied("cos_cloud"),
    )
    return STORES[store_name](place)
