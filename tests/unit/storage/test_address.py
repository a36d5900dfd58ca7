"""storage/address.py: what a console shows, as hosts, region and addressing."""

from __future__ import annotations

from typing import Any

import pytest

from stager.errors import ConfigError, UsageError
from stager.storage.address import Address, locate, refuse_secrets
from stager.storage.options import StorageOptions


def found(url: str, **settings: Any) -> Address:
    return locate(url, StorageOptions(**settings))


@pytest.mark.parametrize(
    ("settings", "base", "native"),
    [
        ({"region": "cn-hangzhou"}, "https://b.s3.oss-cn-hangzhou", "https://oss-cn-hangzhou"),
        ({"region": "oss-cn-hangzhou"}, "https://b.s3.oss-cn-hangzhou", "https://oss-cn-hangzhou"),
        (
            {"region": "cn-hangzhou", "network": "internal"},
            "https://b.s3.oss-cn-hangzhou-internal",
            "https://oss-cn-hangzhou-internal",
        ),
        (
            {"region": "cn-hangzhou", "network": "accelerate"},
            "https://b.s3.oss-accelerate",
            "https://oss-accelerate",
        ),
        (
            {"endpoint": "oss-cn-hangzhou-internal.aliyuncs.com"},
            "https://b.s3.oss-cn-hangzhou-internal",
            "https://oss-cn-hangzhou-internal",
        ),
        (
            {"endpoint": "https://s3.oss-cn-hangzhou.aliyuncs.com/"},
            "https://b.s3.oss-cn-hangzhou",
            "https://oss-cn-hangzhou",
        ),
        (
            {"endpoint": "http://b.oss-cn-hangzhou.aliyuncs.com"},
            "http://b.s3.oss-cn-hangzhou",
            "http://oss-cn-hangzhou",
        ),
        (
            {"endpoint": "oss-accelerate.aliyuncs.com", "region": "cn-hangzhou"},
            "https://b.s3.oss-accelerate",
            "https://oss-accelerate",
        ),
    ],
)
def test_T64_oss_is_asked_by_virtual_host(settings: Any, base: str, native: str) -> None:
    address = found("oss://b/team/", **settings)
    assert (address.base, address.endpoint) == (f"{base}.aliyuncs.com", f"{native}.aliyuncs.com")
    assert (address.vendor, address.bucket, address.prefix) == ("oss", "b", "team")
    assert (address.region, address.addressing) == ("cn-hangzhou", "virtual")


def test_the_domain_that_the_console_shows_says_everything() -> None:
    address = found("oss://b.oss-cn-hangzhou-internal.aliyuncs.com/team/x")
    assert (address.bucket, address.prefix, address.region) == ("b", "team/x", "cn-hangzhou")
    assert address.base == "https://b.s3.oss-cn-hangzhou-internal.aliyuncs.com"
    address = found("cos://b-1250000000.cos.ap-guangzhou.myqcloud.com/team")
    assert (address.bucket, address.region) == ("b-1250000000", "ap-guangzhou")
    assert address.base == "https://b-1250000000.cos.ap-guangzhou.myqcloud.com"


def test_a_domain_of_the_users_is_the_bucket() -> None:
    address = found("oss://b/team", endpoint="https://data.example.com", region="cn-hangzhou")
    assert (address.base, address.addressing) == ("https://data.example.com", "cname")
    assert address.endpoint == "https://data.example.com"
    with pytest.raises(ConfigError, match="region"):
        found("oss://b/team", endpoint="https://data.example.com")


@pytest.mark.parametrize(
    ("settings", "base"),
    [
        ({"region": "ap-guangzhou"}, "cos.ap-guangzhou.myqcloud.com"),
        (
            {"region": "ap-guangzhou", "network": "internal"},
            "cos-internal.ap-guangzhou.tencentcos.cn",
        ),
        (
            {"region": "ap-guangzhou", "network": "accelerate"},
            "cos.accelerate.myqcloud.com",
        ),
        ({"endpoint": "cos.ap-guangzhou.myqcloud.com"}, "cos.ap-guangzhou.myqcloud.com"),
        ({"endpoint": "https://cos.ap-guangzhou.tencentcos.cn"}, "cos.ap-guangzhou.tencentcos.cn"),
    ],
)
def test_T65_cos_is_asked_by_virtual_host(settings: Any, base: str) -> None:
    address = found("cos://data-1250000000/team", **settings)
    assert address.base == f"https://data-1250000000.{base}"
    assert address.s3_endpoint == f"https://{base}"
    assert (address.vendor, address.region) == ("cos", "ap-guangzhou")


@pytest.mark.parametrize(
    ("url", "settings", "vendor", "base", "style"),
    [
        ("s3://b/x", {"region": "eu-west-1"}, "aws", "", "virtual"),
        ("s3://b.with.dots/x", {}, "aws", "", "path"),
        ("s3://b/x", {"addressing": "path"}, "aws", "", "path"),
        ("s3://b/x", {"endpoint": "http://127.0.0.1:9000"}, "aws", "http://127.0.0.1:9000", "path"),
        (
            "s3://b/x",
            {"endpoint": "https://r2.example.com", "addressing": "virtual"},
            "aws",
            "https://b.r2.example.com",
            "virtual",
        ),
        (
            "s3://b/x",
            {"endpoint": "https://s3.oss-cn-x.aliyuncs.com"},
            "oss",
            "https://b.s3.oss-cn-x.aliyuncs.com",
            "virtual",
        ),
        (
            "s3://b-1250000000/x",
            {"endpoint": "https://cos.ap-x.myqcloud.com"},
            "cos",
            "https://b-1250000000.cos.ap-x.myqcloud.com",
            "virtual",
        ),
    ],
)
def test_T64_T65_an_s3_url_keeps_the_rules_of_whoever_answers(
    url: str, settings: Any, vendor: str, base: str, style: str
) -> None:
    address = found(url, **settings)
    assert (address.vendor, address.base, address.addressing) == (vendor, base, style)
    assert address.host_is_bucket == (style != "path")


@pytest.mark.parametrize("url", ["s3://", "s3:///key", "oss://_x/y", "cos:///", "s3://b c/x"])
def test_a_url_without_a_bucket_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        found(url, region="cn-x")


def test_a_cos_bucket_without_its_appid_is_refused() -> None:
    with pytest.raises(UsageError, match="APPID"):
        found("cos://data/team", region="ap-guangzhou")


@pytest.mark.parametrize("url", ["oss://b/team", "cos://b-1250000000/team"])
def test_a_region_that_nobody_told_is_asked_for(url: str) -> None:
    with pytest.raises(ConfigError, match="region"):
        found(url)


@pytest.mark.parametrize("scheme", ["s3", "oss", "cos", "gs", "az", "hf"])
def test_keys_in_a_url_are_refused_and_not_repeated(scheme: str) -> None:
    from stager.storage.connect import connect

    with pytest.raises(UsageError) as caught:
        connect(f"{scheme}://id:s3cr3t-value@bucket/team")
    assert "s3cr3t" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize("endpoint", ["ftp://x", "https://x/path", "https://a:b@x"])
def test_an_endpoint_is_a_host_and_nothing_more(endpoint: str) -> None:
    with pytest.raises(ConfigError, match="endpoint"):
        found("s3://b/x", endpoint=endpoint)


def test_a_vendor_s_own_variables_serve_its_scheme_alone() -> None:
    places = {"oss": ("", "cn-x"), "aws": ("http://127.0.0.1:1", "r")}
    assert found("oss://b/x", places=places).base == "https://b.s3.oss-cn-x.aliyuncs.com"
    assert found("s3://b/x", places=places).base == "http://127.0.0.1:1"


@pytest.mark.parametrize(
    "url",
    [
        "s3://key:planted@bucket/team",
        "s3://key:plan/ted@bucket/team",
        "oss://planted@bucket/team",
        "sftp://user:planted@host/data",
        "s3://bucket/team?X-Amz-Signature=planted&X-Amz-Credential=planted",
        "https://bucket.oss-cn-hangzhou.aliyuncs.com/x?OSSAccessKeyId=planted&Signature=planted",
    ],
)
def test_a_url_with_keys_in_it_is_refused_and_not_quoted(url: str) -> None:
    with pytest.raises(UsageError, match="keys do not belong into a URL") as caught:
        refuse_secrets(url)
    assert "plan" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        *("/data", "s3://bucket/token=llama/a@b", "sftp://user@host:22/x", "hdfs://[::1]:9000/x"),
        *("s3://bucket.name/team", "memory://name", "gs://bucket/x?y"),
    ],
)
def test_other_urls_are_none_of_its_business(url: str) -> None:
    refuse_secrets(url)
