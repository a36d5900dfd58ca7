"""A stager on every kind of remote."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import Stager
from tests.support.s3_server import S3Server

SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def local(tmp_path: Path) -> Stager:
    """A stager whose remote is a local folder."""
    return Stager(str(tmp_path / "remote"), tmp_path / "cache")


@pytest.fixture
def on_s3(tmp_path: Path, s3_server: S3Server, bucket: str) -> Stager:
    """A stager whose remote is a bucket of a real S3 server."""
    return Stager(f"s3://{bucket}/team", tmp_path / "cache", s3_server.environment())


@pytest.fixture(params=["local", "s3"])
def stager(request: pytest.FixtureRequest) -> Stager:
    """Both."""
    chosen: Stager = request.getfixturevalue({"local": "local", "s3": "on_s3"}[request.param])
    return chosen


@pytest.fixture(params=["sft", "images"])
def real_input(request: pytest.FixtureRequest) -> Path:
    """A folder of real inputs, where this checkout has them beside it."""
    folder = SHARED / request.param
    if not folder.is_dir():
        pytest.skip(f"the shared inputs are not beside this checkout ({request.param})")
    return folder
