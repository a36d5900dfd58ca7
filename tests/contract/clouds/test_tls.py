"""The clouds at `https://`, where the vendors' endpoints are and clients behave otherwise."""

from __future__ import annotations

import urllib.error
from collections.abc import Iterator
from typing import Any

import alibabacloud_oss_v2 as sdk
import boto3
import obstore
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from obstore.store import S3Store
from qcloud_cos import CosConfig, CosS3Client

from tests.contract.clouds.conftest import COS_BUCKET, OSS_BUCKET, opened
from tests.contract.clouds.oss_client import client, get, put
from tests.support.clouds.cloud import Cloud
from tests.support.clouds.cos_server import CosServer, cos_server
from tests.support.clouds.oss_server import OssServer, oss_server


def entered(server: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lead the clients of this process to the server."""
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def secure_oss(monkeypatch: pytest.MonkeyPatch) -> Iterator[OssServer]:
    """An OSS at https."""
    with oss_server(tls=True) as server:
        server.make_bucket(OSS_BUCKET)
        entered(server, monkeypatch)
        yield server


@pytest.fixture
def secure_cos(monkeypatch: pytest.MonkeyPatch) -> Iterator[CosServer]:
    """A COS at https."""
    with cos_server(tls=True) as server:
        server.make_bucket(COS_BUCKET)
        entered(server, monkeypatch)
        yield server


def botocore_client(server: Cloud, endpoint: str, **settings: str) -> Any:
    """A client with botocore's defaults, but for what is given."""
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="any",
        aws_access_key_id=server.key_id,
        aws_secret_access_key=server.secret,
        config=Config(
            s3={"addressing_style": "virtual"}, retries={"total_max_attempts": 1}, **settings
        ),
    )


def test_the_vendors_sdks(secure_oss: OssServer) -> None:
    made = client(secure_oss, endpoint=None)  # the SDK's own, from the region
    body = bytes(range(256)) * 8192
    put(made, "目录/k", body)
    assert get(made, "目录/k").body.read() == body
    assert secure_oss.requests[-1].host == f"{OSS_BUCKET}.oss-cn-hangzhou.aliyuncs.com"
    url = made.presign(sdk.GetObjectRequest(OSS_BUCKET, "目录/k")).url
    assert url.startswith("https://")
    assert opened(url) == body


def test_the_sdk_of_cos(secure_cos: CosServer) -> None:
    made = CosS3Client(
        CosConfig(Region="ap-guangzhou", SecretId=secure_cos.key_id, SecretKey=secure_cos.secret)
    )
    made.put_object(COS_BUCKET, b"abc", "k")
    assert made.get_object(COS_BUCKET, "k")["Body"].get_raw_stream().read() == b"abc"


PLACES = {
    "oss": ("secure_oss", "https://s3.oss-cn-hangzhou.aliyuncs.com", OSS_BUCKET),
    "cos": ("secure_cos", "https://cos.ap-guangzhou.myqcloud.com", COS_BUCKET),
}


@pytest.mark.parametrize("name", PLACES)
def test_T66_T67_the_defaults_of_botocore_are_refused(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    fixture, endpoint, bucket = PLACES[name]
    server = request.getfixturevalue(fixture)
    with pytest.raises(ClientError) as caught:
        botocore_client(server, endpoint).put_object(Bucket=bucket, Key="k", Body=b"x")
    sent = server.requests[-1].headers["x-amz-content-sha256"]
    assert sent == "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
    code = caught.value.response["Error"]["Code"]
    assert code == ("InvalidArgument" if name == "oss" else "NotImplemented")
    told = botocore_client(server, endpoint, request_checksum_calculation="when_required")
    told.put_object(Bucket=bucket, Key="k", Body=b"x")
    monkeypatch.setenv("AWS_REQUEST_CHECKSUM_CALCULATION", "when_required")
    botocore_client(server, endpoint).put_object(Bucket=bucket, Key="k", Body=b"x")


def test_obstore(secure_oss: OssServer) -> None:
    store = S3Store(
        OSS_BUCKET,
        endpoint=f"https://{OSS_BUCKET}.s3.oss-cn-hangzhou.aliyuncs.com",
        region="cn-hangzhou",
        virtual_hosted_style_request=True,
    )
    obstore.put(store, "k", b"abc")
    assert bytes(obstore.get(store, "k").bytes()) == b"abc"


def test_without_tls_no_client_gets_out(oss: OssServer) -> None:
    with pytest.raises(urllib.error.URLError, match="405"):
        opened(f"https://{OSS_BUCKET}.oss-cn-hangzhou.aliyuncs.com/k")
