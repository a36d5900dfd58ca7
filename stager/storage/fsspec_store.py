"""Any fsspec filesystem as an object store.

Chosen by scheme for what obstore does not speak, or by `transport = "fsspec"`. What fsspec
cannot promise is in the capabilities: most filesystems have no conditional read, so
`if_match` is checked before and after reading, and create-only is atomic where the
filesystem's `pipe_file(mode="create")` is (s3fs sends If-None-Match), a look before the
write elsewhere.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from stager.errors import (
    AccessDenied,
    MissingExtra,
    ObjectNotFound,
    PreconditionFailed,
    StagerError,
    StorageError,
    StorageUnavailable,
    UsageError,
)
from stager.storage.options import StorageOptions
from stager.storage.store import Capabilities, Data, ObjectInfo

ATOMIC_CREATE = frozenset({"s3", "s3a"})
EXTRAS = {"s3": ("s3fs", "s3"), "oss": ("ossfs", "oss"), "cos": ("cosfs", "cos")}
STREAM_BLOCK = 16 * 1024 * 1024


class FsspecStore:
    """ObjectStore below `root`, a path as the filesystem writes it, without a trailing slash."""

    def __init__(self, filesystem: Any, url: str, root: str, scheme: str) -> None:
        self.url = url
        self.capabilities = Capabilities(create_only=scheme in ATOMIC_CREATE, if_match=False)
        self._filesystem = filesystem
        self._root = root

    def get(self, key: str, start: int = 0, end: int | None = None, if_match: str = "") -> Data:
        """See ObjectStore.get."""
        with self._translated(key):
            self._check(key, if_match)
            data: bytes = self._filesystem.cat_file(self._path(key), start=start or None, end=end)
            self._check(key, if_match)
        if end is not None and len(data) != end - start:
            size = self.head(key).size
            if end > size:
                raise StorageError(url=self._at(key), reason=f"ends at byte {size}")
            reason = f"{len(data)} bytes came for a range of {end - start}"
            raise StorageUnavailable(url=self._at(key), reason=reason)
        return data

    def head(self, key: str) -> ObjectInfo:
        """See ObjectStore.head."""
        with self._translated(key):
            path = self._path(key)
            self._filesystem.invalidate_cache()
            facts = self._filesystem.info(path)
            if facts["type"] != "file":
                raise ObjectNotFound(url=self._at(key))
            return self._info(facts)

    def put(self, key: str, data: Data) -> str:
        """See ObjectStore.put."""
        return self._pipe(key, data, "overwrite")

    def create(self, key: str, data: Data) -> str:
        """See ObjectStore.create."""
        if not self.capabilities.create_only and self._filesystem.exists(self._path(key)):
            raise PreconditionFailed(url=self._at(key))
        mode = "create" if self.capabilities.create_only else "overwrite"
        return self._pipe(key, data, mode)

    def put_stream(self, key: str, parts: Iterable[Data]) -> str:
        """See ObjectStore.put_stream."""
        with self._translated(key):
            self._make_folder(key)
            file = self._filesystem.open(self._path(key), "wb", block_size=STREAM_BLOCK)
            try:
                for part in parts:
                    file.write(bytes(part))
            except BaseException:
                self._abandon(file)
                raise
            file.close()
        return self.head(key).etag

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """See ObjectStore.list."""
        folder = prefix.rpartition("/")[0]
        with self._translated(prefix):
            self._filesystem.invalidate_cache()
            try:
                found = self._filesystem.find(self._path(folder), detail=True)
            except FileNotFoundError:
                return
            infos = [self._info(facts) for facts in found.values()]
        for info in sorted(infos, key=lambda info: info.key.encode()):
            if info.key.startswith(prefix):
                yield info

    def delete(self, keys: Iterable[str]) -> None:
        """See ObjectStore.delete."""
        for key in keys:
            with (
                contextlib.suppress(FileNotFoundError),
                self._translated(key, missing_is_fine=True),
            ):
                self._filesystem.rm_file(self._path(key))

    def _pipe(self, key: str, data: Data, mode: str) -> str:
        with self._translated(key):
            self._make_folder(key)
            extra = {"mode": mode} if mode != "overwrite" else {}
            self._filesystem.pipe_file(self._path(key), bytes(data), **extra)
        return self.head(key).etag

    def _check(self, key: str, if_match: str) -> None:
        if if_match and self.head(key).etag != if_match:
            raise PreconditionFailed(url=self._at(key))

    def _make_folder(self, key: str) -> None:
        parent = self._path(key).rpartition("/")[0]
        if getattr(self._filesystem, "protocol", "") not in ("s3", ("s3", "s3a"), "oss"):
            self._filesystem.makedirs(parent, exist_ok=True)

    def _abandon(self, file: Any) -> None:
        """Leaves no object behind: closing normally would publish the half that came."""
        discard = getattr(file, "discard", None)
        file.closed = True
        if discard is not None:
            with contextlib.suppress(Exception):
                discard()

    def _at(self, key: str) -> str:
        return f"{self.url}/{key}"

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}" if key else self._root

    def _info(self, facts: dict[str, Any]) -> ObjectInfo:
        name = facts["name"].strip("/")
        key = name[len(self._root.strip("/")) + 1 :]
        etag = facts.get("ETag") or facts.get("etag")
        modified = facts.get("LastModified") or facts.get("mtime") or facts.get("created") or 0.0
        if isinstance(modified, datetime):
            modified = modified.timestamp()
        if not etag:
            etag = f"{modified}-{facts['size']}"
        return ObjectInfo(key, int(facts["size"]), str(etag).strip('"'), float(modified))

    @contextlib.contextmanager
    def _translated(self, key: str, missing_is_fine: bool = False) -> Iterator[None]:
        try:
            yield
        except StagerError:
            raise
        except FileNotFoundError as problem:
            if missing_is_fine:
                raise
            raise ObjectNotFound(url=self._at(key)) from problem
        except Exception as problem:
            raise _translate(problem, self._at(key)) from problem


def _translate(problem: Exception, url: str) -> StorageError:
    text = " ".join(str(problem).split())[:500] or type(problem).__name__
    if isinstance(problem, FileExistsError):
        return PreconditionFailed(url=url)
    if isinstance(problem, PermissionError):
        return AccessDenied(url=url, reason=text)
    if "PreconditionFailed" in text or "412" in text:
        return PreconditionFailed(url=url)
    if isinstance(problem, (ValueError, TypeError, NotImplementedError)):
        return StorageError(url=url, reason=text)
    return StorageUnavailable(url=url, reason=text)


def open_fsspec(url: str, options: StorageOptions) -> FsspecStore:
    """A store for any URL that fsspec knows; MissingExtra when its package is not installed."""
    import fsspec

    scheme = url.partition("://")[0]
    try:
        filesystem, root = fsspec.core.url_to_fs(url, **_arguments(scheme, options))
    except ImportError as problem:
        package, extra = EXTRAS.get(scheme, (str(problem), "all"))
        raise MissingExtra(purpose=f"{scheme}://", package=package, extra=extra) from problem
    except ValueError as problem:
        raise UsageError(reason=f"{url}: {problem}") from problem
    return FsspecStore(filesystem, url, root.rstrip("/"), scheme)


def _arguments(scheme: str, options: StorageOptions) -> dict[str, Any]:
    keys = (
        options.access_key_id,
        options.secret_access_key.reveal(),
        options.session_token.reveal(),
    )
    if scheme in ("s3", "s3a"):
        given: dict[str, Any] = dict(zip(("key", "secret", "token"), keys, strict=True))
        given["endpoint_url"] = options.endpoint
        given["client_kwargs"] = {"region_name": options.region or "us-east-1"}
        given["config_kwargs"] = {
            "s3": {"addressing_style": options.addressing},
            "request_checksum_calculation": "when_required",
            "response_checksum_validation": "when_required",
        }
        given["skip_instance_cache"] = True
        return {name: value for name, value in given.items() if value}
    if scheme == "oss":
        given = dict(zip(("key", "secret", "token"), keys, strict=True))
        given["endpoint"] = options.endpoint
        return {name: value for name, value in given.items() if value}
    return {}
