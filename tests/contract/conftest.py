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
from tests.support.moto_server import moto
from tests.support.rclone_server import rclone
from tests.support.s3_server import S3Server


@pytest.fixture(scope="session")
def oss_cloud() -> Iterator[OssServer]:
    """One OSS for all tests of the contract."""
    with oss_server() as server:
        yield server


@pytest.fixture(scope="session")
def cos_cloud() -> Iterator[CosServer]:
    """One COS for all tests of the contract; of concurrent creators both are told yes."""
    with cos_server(racing=True) as server:
        yield server


@pytest.fixture(scope="session")
def moto_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A second, independent S3."""
    with moto(tmp_path_factory.mktemp("moto")) as server:
        yield server


@pytest.fixture(scope="session")
def rclone_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """An S3 with quirks."""
    with rclone(tmp_path_factory.mktemp("rclone")) as server:
        yield server


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where this test may put its store: buckets and folders named after it."""

    def proxied(fixture: str) -> Any:
        """A cloud that this process reaches by the vendor's host names."""
        cloud = request.getfixturevalue(fixture)
        patch = request.getfixturevalue("monkeypatch")
        for name, value in cloud.environment().items():
            if "PROXY" in name.upper():
                patch.setenv(name, value)
        return cloud

    return Place(
        folder=tmp_path,
        name=bucket_name(request.node.nodeid),
        server=request.getfixturevalue,
        oss=lambda: proxied("oss_cloud"),
        cos=lambda: proxied("cos_cloud"),
    )


@pytest.fixture(params=STORES)
def store_name(request: pytest.FixtureRequest) -> str:
    """Which store this is."""
    return str(request.param)


@pytest.fixture
def store(store_name: str, place: Place) -> ObjectStore:
    """An empty store."""
    return STORES[store_name](place)
