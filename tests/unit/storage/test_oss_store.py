"""storage/oss_store.py: records by the SDK of OSS, and what its failures mean."""

from __future__ import annotations

from typing import Any

import alibabacloud_oss_v2 as sdk
import pytest

from stager.errors import (
    AccessDenied,
    CredentialsExpired,
    PreconditionFailed,
    StorageThrottled,
    StorageUnavailable,
)
from stager.storage import oss_store
from stager.storage.address import locate
from stager.storage.clients import memory
from stager.storage.options import StorageOptions
from stager.storage.oss_store import OssStore

URL = "oss://bucket/team"


class Native:
    """The SDK's client, over the same memory: writes, and says whether versioning is on."""

    def __init__(self, store: list[OssStore], version: str = "", rival: bytes = b"") -> None:
        self.store, self.version, self.rival = store, version, rival
        self.asked: list[Any] = []

    def put_object(self, request: Any) -> Any:
        self.asked.append(request)
        key = request.key.removeprefix("team/")
        etag = self.store[0].put(key, request.body)
        if self.rival:
            self.store[0].put(key, self.rival)
        return sdk.PutObjectResult(etag=f'"{etag}"', version_id=self.version)


def opened(version: str = "", rival: bytes = b"") -> tuple[OssStore, Native]:
    stores: list[OssStore] = []
    client = Native(stores, version, rival)
    address = locate(URL, StorageOptions(region="cn-x"))
    stores.append(OssStore(memory(), URL, address, lambda: client))
    return stores[0], client


def refusal(status: int, code: str) -> Any:
    facts = {"status_code": status, "code": code, "message": "m", "ec": "0002"}
    facts |= dict.fromkeys(("request_id", "timestamp", "request_target"), "")
    inner = sdk.exceptions.ServiceError(**facts)
    return sdk.exceptions.OperationError(name="PutObject", error=inner)


def test_T70_a_record_is_written_by_a_put_that_forbids_overwriting() -> None:
    store, client = opened()
    etag = store.create("a/v1.json", b"record")
    assert etag == store.head("a/v1.json").etag
    (asked,) = client.asked
    assert (asked.bucket, asked.key, asked.forbid_overwrite) == ("bucket", "team/a/v1.json", True)


def test_what_exists_is_not_written_over() -> None:
    store, client = opened(version="1")
    store.put("a", b"first")
    with pytest.raises(PreconditionFailed):
        store.create("a", b"second")
    assert client.asked == []


@pytest.mark.parametrize(("rival", "wins"), [(b"", True), (b"rival", False)])
def test_T50_a_versioned_bucket_is_read_back(
    monkeypatch: pytest.MonkeyPatch, rival: bytes, wins: bool
) -> None:
    monkeypatch.setattr("stager.storage.create_only.SETTLE_SECONDS", 0.0)
    store, _ = opened("CAEQ", rival)
    if wins:
        store.create("a", b"mine")
    else:
        with pytest.raises(PreconditionFailed):
            store.create("a", b"mine")


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (refusal(409, "FileAlreadyExists"), PreconditionFailed),
        (refusal(403, "AccessDenied"), AccessDenied),
        (refusal(403, "SecurityTokenExpired"), CredentialsExpired),
        (refusal(503, "ServiceUnavailable"), StorageUnavailable),
        (refusal(503, "SlowDown"), StorageThrottled),
        (
            sdk.exceptions.OperationError(
                name="PutObject", error=sdk.exceptions.RequestError(error=OSError("reset"))
            ),
            StorageUnavailable,
        ),
    ],
    ids=str,
)
def test_a_failure_of_the_sdk_becomes_the_class_it_is(problem: Any, kind: type) -> None:
    assert type(oss_store._translate(problem, URL)) is kind
