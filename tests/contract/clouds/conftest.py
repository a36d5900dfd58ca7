"""The clouds on loopback, fresh for every test, with the environment that leads to them."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.support.clouds.cloud import Cloud
from tests.support.clouds.cos_server import CosServer, cos_server
from tests.support.clouds.oss_server import OssServer, oss_server

OSS_BUCKET = "data"
COS_BUCKET = "data-1250000000"

KEYS = {
    "plus and space": "a+b c.jsonl",
    "percent": "50%.jsonl",
    "looks encoded": "a%2Bb%20c.jsonl",
    "Chinese": "目录/数据 集.jsonl",
    "trailing slash": "folder/",
    "empty segment": "a//b",
    "reserved": "q?x=1&y#z;'\"=@:$,[]~!*()",
}


def opened(url: str) -> bytes:
    """What a signed URL leads to; urlopen would keep the proxy of an earlier test."""
    with urllib.request.build_opener().open(url) as answer:
        return bytes(answer.read())


@pytest.fixture(params=KEYS.values(), ids=list(KEYS))
def key(request: pytest.FixtureRequest) -> str:
    """Keys that clients encode wrongly (T23)."""
    return str(request.param)


@pytest.fixture
def oss(monkeypatch: pytest.MonkeyPatch) -> Iterator[OssServer]:
    """An OSS with one bucket, `data`, in cn-hangzhou."""
    with oss_server() as server:
        server.make_bucket(OSS_BUCKET, region="cn-hangzhou")
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture
def cos(monkeypatch: pytest.MonkeyPatch) -> Iterator[CosServer]:
    """A COS with one bucket, `data-1250000000`, in ap-guangzhou."""
    with cos_server() as server:
        server.make_bucket(COS_BUCKET, region="ap-guangzhou")
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        yield server


@dataclass(frozen=True)
class Place:
    """One cloud's S3 endpoint and the bucket there."""

    cloud: Cloud
    endpoint: str
    region: str
    bucket: str
    forbid: str  # the header that makes a write create-only

    @property
    def host(self) -> str:
        """The URL of the bucket."""
        return self.endpoint.replace("://", f"://{self.bucket}.")


@pytest.fixture(params=["oss", "cos"])
def place(request: pytest.FixtureRequest) -> Place:
    """Each cloud in turn."""
    if request.param == "oss":
        server = request.getfixturevalue("oss")
        endpoint = "http://s3.oss-cn-hangzhou.aliyuncs.com"
        return Place(server, endpoint, "cn-hangzhou", OSS_BUCKET, "x-oss-forbid-overwrite")
    server = request.getfixturevalue("cos")
    endpoint = "http://cos.ap-guangzhou.myqcloud.com"
    return Place(server, endpoint, "ap-guangzhou", COS_BUCKET, "x-cos-forbid-overwrite")
