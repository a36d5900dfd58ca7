"""S3 and everything that speaks its dialect, and process memory, through obstore.

obstore is the Apache Arrow object_store crate for Python: it releases the GIL while bytes
move and signs its own requests. Its built-in retries are switched off; `resilient.py` is
the one place that retries. Its only time limit here is one between two reads that make no
progress, so a slow link never fails for being slow.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import obstore
from obstore import exceptions as foreign
from obstore.store import MemoryStore, S3Store

from stager.errors import (
    AccessDenied,
    ObjectNotFound,
    ObjectUnaddressable,
    PreconditionFailed,
    StorageError,
    StorageUnavailable,
)
from stager.storage.store import Capabilities, Data, ObjectInfo, check_key, check_range

if TYPE_CHECKING:
    from stager.storage.options import StorageOptions

PART_BYTES = 16 * 1024 * 1024
PARTS_AT_ONCE = 4
LIST_PAGE = 1000

_HOW_TO_SIGN = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
_DENIED = re.compile(
    r"<Code>(AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken)</Code>"
)
_REFUSED = re.compile(r"(?:status|status code)[: ]+(4\d\d)")
_ALWAYS_TRANSIENT = ("408", "425", "429")


class _Place(NamedTuple):
    """Where keys are put below the bucket."""

    url: str
    prefix: str

    def path(self, key: str) -> str:
        check_key(self.url, key)
        return f"{self.prefix}/{key}" if self.prefix else key

    def key(self, path: str) -> str:
        return path[len(self.prefix) + 1 :] if self.prefix else path


class ObstoreStore:
    """ObjectStore over an obstore client; `prefix` without slashes at its ends."""

    capabilities = Capabilities()

    def __init__(self, client: Any, url: str, prefix: str) -> None:
        self.url = url
        self._client = client
        self._place = _Place(url, prefix)

    def get(self, key: str, start: int = 0, end: int | None = None, if_match: str = "") -> Data:
        """See ObjectStore.get."""
        check_range(self.url, key, start, end)
        options: dict[str, Any] = {}
        if end is not None:
            options["range"] = (start, end)
        elif start:
            options["range"] = {"offset": start}
        if if_match:
            options["if_match"] = f'"{if_match}"'
        with self._translated(key):
            found = obstore.get(self._client, self._place.path(key), options=cast("Any", options))
            data = memoryview(found.buffer())
        if end is not None and len(data) != end - start:
            raise self._short(key, end, len(data), found.meta["size"])
        return data

    def head(self, key: str) -> ObjectInfo:
        """See ObjectStore.head."""
        with self._translated(key):
            return self._info(obstore.head(self._client, self._place.path(key)))

    def put(self, key: str, data: Data) -> str:
        """See ObjectStore.put."""
        return self._put(key, data, "overwrite")

    def create(self, key: str, data: Data) -> str:
        """See ObjectStore.create."""
        return self._put(key, data, "create")

    def put_stream(self, key: str, parts: Iterable[Data]) -> str:
        """See ObjectStore.put_stream."""
        with self._translated(key):
            result = obstore.put(
                self._client,
                self._place.path(key),
                iter(parts),
                use_multipart=True,
                chunk_size=PART_BYTES,
                max_concurrency=PARTS_AT_ONCE,
            )
        return _bare(result["e_tag"])

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """See ObjectStore.list.

        obstore lists whole folders, so the rest of the prefix is filtered here, and shows the
        placeholder `data/` as `data`: an empty object is looked at once more by its name.
        """
        folder, _, start = prefix.rpartition("/")
        path = self._place.path(folder) if folder else self._place.prefix
        with self._translated(prefix):
            pages = obstore.list(self._client, prefix=path or None, chunk_size=LIST_PAGE)
            for page in pages:
                for meta in page:
                    info = self._info(meta)
                    if start and not info.key.startswith(prefix):
                        continue
                    if info.size or self._exists(info.key):
                        yield info

    def unfinished(self) -> Iterator[ObjectInfo]:
        """See ObjectStore.unfinished."""
        return iter(())

    def delete(self, keys: Iterable[str]) -> None:
        """See ObjectStore.delete."""
        paths = [self._place.path(key) for key in keys]
        with self._translated(""), contextlib.suppress(FileNotFoundError):
            if paths:
                obstore.delete(self._client, paths)

    def _put(self, key: str, data: Data, mode: Any) -> str:
        with self._translated(key):
            path = self._place.path(key)
            result = obstore.put(self._client, path, data, mode=mode, use_multipart=False)
        return _bare(result["e_tag"])

    def _exists(self, key: str) -> bool:
        try:
            self.head(key)
        except ObjectNotFound:
            return False
        return True

    def _short(self, key: str, end: int, came: int, size: int) -> StorageError:
        if end > size:
            return StorageError(url=self._at(key), reason=f"ends at byte {size}, not {end}")
        return StorageUnavailable(url=self._at(key), reason=f"only {came} bytes of a range came")

    def _at(self, key: str) -> str:
        return f"{self.url}/{key}"

    def _info(self, meta: Any) -> ObjectInfo:
        modified = meta["last_modified"].timestamp()
        return ObjectInfo(
            self._place.key(meta["path"]), meta["size"], _bare(meta["e_tag"]), modified
        )

    @contextlib.contextmanager
    def _translated(self, key: str) -> Iterator[None]:
        try:
            yield
        except (foreign.BaseError, FileNotFoundError, OSError, ValueError) as problem:
            raise _translate(problem, self._at(key)) from problem


def _bare(etag: str | None) -> str:
    return (etag or "").strip('"')


def _translate(problem: Exception, url: str) -> StorageError:
    whole = " ".join(str(problem).split())
    text = whole[:500]
    match problem:
        case FileNotFoundError():
            return ObjectNotFound(url=url)
        case foreign.AlreadyExistsError() | foreign.PreconditionError():
            return PreconditionFailed(url=url)
        case foreign.PermissionDeniedError() | foreign.UnauthenticatedError():
            return AccessDenied(url=url, reason=text)
        case foreign.InvalidPathError():
            return ObjectUnaddressable(url=url, reason=text)
    if "169.254.169.254" in whole:  # the last place where obstore looks for credentials
        return AccessDenied(url=url, reason="no credentials found", hint=_HOW_TO_SIGN)
    if _DENIED.search(whole):
        return AccessDenied(url=url, reason=text)
    if "Could not parse path" in whole:
        return ObjectUnaddressable(url=url, reason=text)
    refused = _REFUSED.search(whole)
    status = refused[1] if refused else ""
    if status == "416" or "Invalid range" in whole:
        return StorageError(url=url, reason="the range lies past the end of the object")
    if (status and status not in _ALWAYS_TRANSIENT) or isinstance(problem, ValueError):
        return StorageError(url=url, reason=text)
    return StorageUnavailable(url=url, reason=text)


def open_s3(bucket: str, prefix: str, url: str, options: StorageOptions) -> ObstoreStore:
    """A store below `s3://bucket/prefix` with the endpoint and keys of `options`."""
    stall = timedelta(seconds=options.stall_seconds)
    config: dict[str, Any] = {
        "endpoint": options.endpoint,
        "region": options.region or "us-east-1",
        "access_key_id": options.access_key_id,
        "secret_access_key": options.secret_access_key.reveal(),
        "session_token": options.session_token.reveal(),
    }
    given = {key: value for key, value in config.items() if value}
    client = S3Store(
        bucket,
        **given,
        virtual_hosted_style_request=options.addressing == "virtual",
        client_options={
            "allow_http": True,
            "timeout": timedelta(days=7),
            "read_timeout": stall,
            "connect_timeout": min(stall, timedelta(seconds=10)),
        },
        retry_config={"max_retries": 0, "retry_timeout": timedelta(seconds=1)},
    )
    return ObstoreStore(client, url, prefix)


def open_memory(url: str) -> ObstoreStore:
    """A store that lives as long as the object; for tests and trials."""
    return ObstoreStore(MemoryStore(), url, "")
