"""What every kind of test may ask for: an S3 server, a bucket, quick property tests."""

from __future__ import annotations

import hashlib
import os
import re
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.support.s3_server import S3Server, seaweedfs

settings.register_profile(
    "house",
    deadline=None,  # a loaded machine is not a failure
    max_examples=25,
    database=None,
    derandomize="CI" in os.environ,  # CI repeats the same examples; developers look for new ones
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")

# A shell starts its background jobs with SIGINT ignored, and children inherit that: no test
# of Ctrl-C could then pass.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A SeaweedFS server, one a worker: it answers within a second of its start."""
    with seaweedfs(tmp_path_factory.mktemp("seaweedfs")) as server:
        yield server


@pytest.fixture
def bucket(request: pytest.FixtureRequest, s3_server: S3Server) -> str:
    """A fresh bucket named after the test."""
    return s3_server.make_bucket(bucket_name(request.node.nodeid))


def bucket_name(test: str) -> str:
    """A test's id as S3 allows names, 63 characters at most; another id is another name."""
    words = re.sub(r"[^a-z0-9]+", "-", test.rpartition("::")[2].lower()).strip("-")
    return f"{words[:50].rstrip('-')}-{hashlib.sha256(test.encode()).hexdigest()[:8]}"
