"""Who may reach the OSS server, and by which host, seen with Aliyun's SDK of today."""

from __future__ import annotations

import urllib.error

import alibabacloud_oss_v2 as sdk
import pytest

from tests.contract.clouds.conftest import OSS_BUCKET, opened
from tests.contract.clouds.oss_client import client, get, put, refusal, said
from tests.support.clouds.oss_server import OssServer


def test_another_secret_is_refused(oss: OssServer) -> None:
    refused = refusal(lambda: put(client(oss, secret="not the one"), "k", b"x"))
    assert (refused.status_code, refused.code) == (403, "SignatureDoesNotMatch")
    assert "k" not in oss.buckets[OSS_BUCKET]


def test_another_region_is_refused(oss: OssServer) -> None:
    signed = client(oss, region="cn-beijing")
    assert said(lambda: put(signed, "k", b"x")) == (400, "InvalidArgument")
    sent = client(oss, region="cn-beijing", endpoint="http://oss-cn-beijing.aliyuncs.com")
    assert said(lambda: put(sent, "k", b"x")) == (403, "AccessDenied")


def test_an_anonymous_request_is_refused(oss: OssServer) -> None:
    nobody = client(oss, credentials_provider=sdk.credentials.AnonymousCredentialsProvider())
    assert said(lambda: get(nobody, "k")) == (403, "AccessDenied")


def test_a_token_is_good_until_it_ends(oss: OssServer) -> None:
    provider = sdk.credentials.StaticCredentialsProvider(*oss.issue_token(600))
    made = client(oss, credentials_provider=provider)
    put(made, "k", b"x")
    oss.skew_seconds = 601
    refused = refusal(lambda: put(made, "k", b"y"))
    assert (refused.status_code, refused.code) == (403, "SecurityTokenExpired")
    assert refused.ec == "0002-00000007"


def test_a_token_belongs_to_its_key(oss: OssServer) -> None:
    (key_id, secret, _), (_, _, token) = oss.issue_token(600), oss.issue_token(600)
    provider = sdk.credentials.StaticCredentialsProvider(key_id, secret, token)
    made = client(oss, credentials_provider=provider)
    assert said(lambda: put(made, "k", b"x")) == (403, "InvalidSecurityToken")


def test_a_revoked_key_is_refused(oss: OssServer) -> None:
    oss.revoke(oss.key_id)
    assert said(lambda: put(client(oss), "k", b"x")) == (403, "InvalidAccessKeyId")


@pytest.mark.parametrize("skew", [-901, 901])
def test_T61_a_clock_that_is_off_is_refused(oss: OssServer, skew: float) -> None:
    oss.skew_seconds = skew
    assert said(lambda: put(client(oss), "k", b"x")) == (403, "RequestTimeTooSkewed")
    oss.skew_seconds = 890 if skew > 0 else -890
    put(client(oss), "k", b"x")


def test_a_signed_url_opens_one_object(oss: OssServer) -> None:
    made = client(oss)
    put(made, "目录/a b", b"abc")
    url = made.presign(sdk.GetObjectRequest(OSS_BUCKET, "目录/a b")).url
    assert opened(url) == b"abc"
    with pytest.raises(urllib.error.HTTPError) as caught:
        opened(url.replace("a%20b", "other"))
    assert caught.value.code == 403
    oss.skew_seconds = 16 * 60  # a URL is good for 15 minutes unless told otherwise
    with pytest.raises(urllib.error.HTTPError):
        opened(url)


def test_T64_the_bucket_is_in_the_host(oss: OssServer) -> None:
    made = client(oss, use_path_style=True)
    assert said(lambda: put(made, "k", b"x")) == (403, "SecondLevelDomainForbidden")
    bare = client(oss, endpoint=oss.endpoint)
    assert said(lambda: put(bare, "k", b"x")) == (403, "SecondLevelDomainForbidden")


def test_a_custom_domain_is_the_bucket(oss: OssServer) -> None:
    oss.domain("data.example.com", OSS_BUCKET)
    local = oss.cname(OSS_BUCKET).replace("127.0.0.1", "localhost")
    for endpoint in (local, "http://data.example.com"):
        made = client(oss, endpoint=endpoint, use_cname=True)
        put(made, endpoint, b"x")
        assert get(made, endpoint).body.read() == b"x"


def test_the_sdk_takes_an_address_for_path_style_even_as_a_custom_domain(oss: OssServer) -> None:
    made = client(oss, endpoint=oss.cname(OSS_BUCKET), use_cname=True)
    assert said(lambda: put(made, "k", b"x")) == (403, "SignatureDoesNotMatch")


@pytest.mark.parametrize(
    "endpoint",
    ["http://oss-cn-hangzhou-internal.aliyuncs.com", "http://oss-accelerate.aliyuncs.com"],
)
def test_other_endpoints_of_the_region(oss: OssServer, endpoint: str) -> None:
    made = client(oss, endpoint=endpoint)
    put(made, "k", b"x")
    assert oss.requests[-1].host.endswith(endpoint.removeprefix("http://"))


def test_requests_are_recorded_without_secrets(oss: OssServer) -> None:
    provider = sdk.credentials.StaticCredentialsProvider(*oss.issue_token(600))
    put(client(oss, credentials_provider=provider), "a b", b"x")
    seen = oss.requests[-1]
    assert (seen.method, seen.path, seen.status) == ("PUT", "/a b", 200)
    assert not {"authorization", "x-oss-security-token"} & set(seen.headers)


def test_the_account_lists_its_buckets(oss: OssServer) -> None:
    oss.make_bucket("north", region="cn-beijing")
    found = client(oss).list_buckets(sdk.ListBucketsRequest()).buckets
    assert [(each.name, each.region) for each in found] == [
        (OSS_BUCKET, "cn-hangzhou"),
        ("north", "cn-beijing"),
    ]
