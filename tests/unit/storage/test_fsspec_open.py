"""storage/fsspec_open.py: addresses and keys as s3fs, ossfs and cosfs take them."""

from __future__ import annotations

from typing import Any

import pytest

from stager.errors import AccessDenied, ConfigError, MissingExtra, UsageError
from stager.storage import fsspec_open
from stager.storage.address import locate
from stager.storage.credentials.values import Credentials
from stager.storage.fsspec_open import open_fsspec
from stager.storage.options import StorageOptions
from stager.storage.secret import Secret

KEYS = Credentials("id", Secret("s3cr3t"), Secret("t0k3n"), None, "a test")


class Rotating:
    """Keys that are others each time they are renewed."""

    def __init__(self) -> None:
        self.keys = KEYS

    def current(self) -> Credentials:
        return self.keys


def options(**settings: Any) -> StorageOptions:
    return StorageOptions(transport="fsspec", **settings)


def test_what_cannot_be_promised_is_said() -> None:
    assert not open_fsspec("memory://x", options(), None).capabilities.create_only
    s3 = open_fsspec("s3://bucket/team", options(), None).capabilities
    assert s3.create_only
    assert not s3.if_match
    dialect = options(endpoint="https://s3.oss-cn-x.aliyuncs.com")
    assert not open_fsspec("s3://bucket/team", dialect, None).capabilities.create_only
    oss = open_fsspec("oss://bucket/team", options(region="cn-x"), None).capabilities
    assert not oss.create_only
    assert any("V1" in limit for limit in oss.limits)


@pytest.mark.parametrize(
    ("url", "settings", "wanted"),
    [
        (
            "s3://b/x",
            {"endpoint": "http://127.0.0.1:9"},
            {
                "key": "id",
                "secret": "s3cr3t",
                "token": "t0k3n",
                "endpoint_url": "http://127.0.0.1:9",
            },
        ),
        (
            "s3://b/x",
            {"endpoint": "https://s3.oss-cn-x.aliyuncs.com"},
            {"endpoint_url": "https://s3.oss-cn-x.aliyuncs.com"},
        ),
        ("oss://b/x", {"region": "cn-x"}, {"endpoint": "https://oss-cn-x.aliyuncs.com"}),
        (
            "cos://b-1250000000/x",
            {"region": "ap-x"},
            {"secret_id": "id", "region": "ap-x", "endpoint": "cos.ap-x.myqcloud.com"},
        ),
    ],
)
def test_an_address_and_keys_reach_the_filesystem(
    url: str, settings: dict[str, str], wanted: dict[str, str]
) -> None:
    scheme = url.partition("://")[0]
    found = fsspec_open._ARGUMENTS[scheme](locate(url, options(**settings)), KEYS)
    assert wanted.items() <= found.items()


def test_T66_T67_s3fs_sends_no_checksum_that_a_dialect_refuses() -> None:
    address = locate("s3://b/x", options(endpoint="https://s3.oss-cn-x.aliyuncs.com"))
    found = fsspec_open._ARGUMENTS["s3"](address, KEYS)["config_kwargs"]
    assert found["request_checksum_calculation"] == "when_required"
    assert found["response_checksum_validation"] == "when_required"
    assert found["s3"] == {"addressing_style": "virtual"}


def test_other_keys_make_another_filesystem() -> None:
    keys = Rotating()
    store = open_fsspec("s3://bucket", options(), keys)
    before = store._filesystem
    assert store._filesystem is before
    keys.keys = KEYS._replace(session_token=Secret("n3w"))
    assert store._filesystem is not before
    assert store._filesystem.token == "n3w"
    assert "s3cr3t" not in repr(store)


def test_a_listing_that_ossfs_would_call_empty_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import oss2
    import ossfs

    def denied(*arguments: Any, **options: Any) -> Any:
        raise oss2.exceptions.AccessDenied(403, {}, b"", {"Code": "AccessDenied"})

    monkeypatch.setattr(ossfs.OSSFileSystem, "_get_object_info_list", denied)
    store = open_fsspec("oss://bucket/team", options(region="cn-x"), Rotating())
    with pytest.raises(AccessDenied):
        list(store.list())


def test_a_domain_that_is_the_bucket_is_refused_where_it_cannot_be_asked() -> None:
    settings = options(endpoint="https://data.example.com", region="cn-x")
    with pytest.raises(ConfigError, match="transport"):
        open_fsspec("oss://bucket/team", settings, None)


def test_a_scheme_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UsageError):
        open_fsspec("nosuchscheme://x", options(), None)


def test_a_package_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "adlfs", None)
    with pytest.raises(MissingExtra):
        open_fsspec("abfs://container/x", options(), None)
