"""Aliyun OSS: bytes through its S3 dialect, create-only writes through its own.

OSS answers NotImplemented to `If-None-Match` on PUT; its header `x-oss-forbid-overwrite` is
documented for its native API alone, so the official SDK writes version records and tags,
signed V4. Where the bucket's versioning is on, OSS ignores the header by its documentation;
the answer then carries a version id, and the write is read back as on stores that promise
nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from stager.errors import (
    MissingExtra,
    ObjectNotFound,
    PreconditionFailed,
    StorageError,
    StorageUnavailable,
)
from stager.storage import create_only
from stager.storage.address import CNAME, Address
from stager.storage.answers import Answer, meaning
from stager.storage.clients import Clients
from stager.storage.credentials.chain import Provider
from stager.storage.credentials.redaction import redacted
from stager.storage.obstore_store import ObstoreStore
from stager.storage.options import StorageOptions
from stager.storage.store import Data


class OssStore(ObstoreStore):
    """ObstoreStore whose create() is a native PUT with `x-oss-forbid-overwrite`."""

    def __init__(
        self, clients: Clients, url: str, address: Address, native: Callable[[], Any]
    ) -> None:
        super().__init__(clients, url, address.prefix)
        self._bucket = address.bucket
        self._native = native
        self._client: Any = None

    def create(self, key: str, data: Data) -> str:
        """See ObjectStore.create; one HEAD more, for a versioned bucket would overwrite."""
        with contextlib.suppress(ObjectNotFound):
            self.head(key)
            raise PreconditionFailed(url=self._at(key))
        result = self._put_native(key, bytes(data))
        if result.version_id:
            create_only.settle(self, key, data)
        return str(result.etag).strip('"')

    def _put_native(self, key: str, data: bytes) -> Any:
        import alibabacloud_oss_v2 as sdk

        if self._client is None:
            self._client = self._native()
        request = sdk.PutObjectRequest(
            bucket=self._bucket, key=self._place.path(key), body=data, forbid_overwrite=True
        )
        try:
            return self._client.put_object(request)
        except sdk.exceptions.BaseError as problem:
            raise _translate(problem, self._at(key)) from problem


def native(address: Address, options: StorageOptions, keys: Provider) -> Callable[[], Any]:
    """What makes the official client, when a record is to be written: its import takes 0.5 s."""

    def opened() -> Any:
        try:
            import alibabacloud_oss_v2 as sdk
        except ImportError as problem:
            package = "alibabacloud-oss-v2"
            raise MissingExtra(purpose="oss://", package=package, extra="oss") from problem
        return sdk.Client(
            sdk.config.Config(
                region=address.region,
                endpoint=address.endpoint,
                use_cname=address.addressing == CNAME,
                credentials_provider=_keys(sdk, keys),
                connect_timeout=min(10.0, options.stall_seconds),
                readwrite_timeout=options.stall_seconds,
                retry_max_attempts=1,
            )
        )

    return opened


def _keys(sdk: Any, keys: Provider) -> Any:
    """The provider as the SDK calls it: before every request."""

    def current() -> Any:
        found = keys.current()
        return sdk.credentials.Credentials(
            found.access_key_id,
            found.secret_access_key.reveal(),
            found.session_token.reveal() or None,
        )

    return sdk.credentials.CredentialsProviderFunc(current)


def _translate(problem: Any, url: str) -> StorageError:
    """An error of the SDK: a refusal of the service inside, or a connection that broke."""
    inner = problem
    while (within := getattr(inner, "unwrap", lambda: None)()) is not None:
        inner = within
    status = getattr(inner, "status_code", 0)
    if isinstance(status, int) and status:
        words = f"{inner.code} {inner.ec or ''} {inner.message}"
        found = meaning(Answer(status, inner.code or "", words), url)
        if found is not None:
            return found
    return StorageUnavailable(url=url, reason=redacted(" ".join(str(inner).split()))[:500])
