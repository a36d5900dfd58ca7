"""Any fsspec filesystem as an object store.

Chosen by scheme for what obstore does not speak, or by `transport = "fsspec"`. What fsspec
cannot promise is in the capabilities: most filesystems have no conditional read, so
`if_match` is checked before and after reading, and create-only is atomic where the
filesystem's `pipe_file(mode="create")` is (s3fs sends If-None-Match), a look before the
write elsewhere. How each filesystem is opened is in `fsspec_open.py`.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from stager.errors import (
    ObjectNotFound,
    ObjectUnaddressable,
    PreconditionFailed,
    StagerError,
    StorageError,
    StorageUnavailable,
)
from stager.storage.credentials.redaction import stand_in
from stager.storage.fsspec_errors import translate
from stager.storage.store import (
    Capabilities,
    Data,
    ObjectInfo,
    check_key,
    check_range,
    too_large,
)

OBJECT_STORES = frozenset({"s3", "s3a", "oss", "cos", "cosn", "gs", "gcs", "az", "abfs"})
FLAT = OBJECT_STORES - {"oss"}  # listed in one go; the others walk folders and omit what fails
ENDS_INCLUDED = frozenset({"oss"})  # ossfs takes the end of a range for its last byte
SPOOLED = frozenset({"oss"})  # ossfs appends to an object that everybody sees grow
STREAM_BLOCK = 16 * 1024 * 1024


class FsspecStore:
    """ObjectStore below `root`, a path as the filesystem writes it, without a trailing slash.

    `filesystem` is asked for at every use: it is another one when the keys have changed.
    """

    def __init__(
        self,
        filesystem: Callable[[], Any],
        url: str,
        root: str,
        scheme: str,
        capabilities: Capabilities,
    ) -> None:
        self.url = url
        self.capabilities = capabilities
        self._open = filesystem
        self._root = root
        self._scheme = scheme
        self._has_folders = scheme not in OBJECT_STORES

    @property
    def _filesystem(self) -> Any:
        return self._open()

    def get(self, key: str, start: int = 0, end: int | None = None, if_match: str = "") -> Data:
        """See ObjectStore.get."""
        check_range(self.url, key, start, end)
        if if_match:
            self._check(key, if_match)
        with self._translated(key):
            path = self._path(key)
            last = end - 1 if end is not None and self._scheme in ENDS_INCLUDED else end
            first = start if start or end is not None else None
            data: bytes = self._filesystem.cat_file(path, start=first, end=last)
        if if_match:
            self._check(key, if_match)
        wanted = None if end is None else end - start
        if len(data) == wanted or (end is None and not start):
            return data
        return self._rest(key, data, start, end)

    def read(self, key: str, most: int) -> Data:
        """See ObjectStore.read: the size is asked for first."""
        size = self.head(key).size
        if size > most:
            raise too_large(self._at(key), size, most)
        return self.get(key)

    def head(self, key: str) -> ObjectInfo:
        """See ObjectStore.head."""
        with self._translated(key):
            self._filesystem.invalidate_cache()
            facts = self._filesystem.info(self._path(key))
            info = self._info(facts)
            if facts["type"] != "file" or info is None:
                raise ObjectNotFound(url=self._at(key))
            return info

    def put(self, key: str, data: Data) -> str:
        """See ObjectStore.put."""
        return self._pipe(key, data, {})

    def create(self, key: str, data: Data) -> str:
        """See ObjectStore.create."""
        if self.capabilities.create_only:
            return self._pipe(key, data, {"mode": "create"})
        with self._translated(key):
            exists = self._filesystem.exists(self._path(key))
        if exists:
            raise PreconditionFailed(url=self._at(key))
        return self._pipe(key, data, {})

    def put_stream(self, key: str, parts: Iterable[Data]) -> str:
        """See ObjectStore.put_stream: written aside and moved where a stream cannot be undone."""
        if self._scheme in SPOOLED:
            return self._put_spooled(key, parts)
        buffered = not self._has_folders
        target = self._path(key)
        aside = target if buffered else f"{target}.stager-tmp-{os.urandom(6).hex()}"
        with self._translated(key):
            self._make_folder(key)
            file = self._filesystem.open(aside, "wb", block_size=STREAM_BLOCK)
        try:
            for part in parts:
                with self._translated(key):
                    file.write(bytes(part))
        except BaseException:
            self._abandon(file, aside, buffered)
            raise
        with self._translated(key):
            file.close()
            if not buffered:
                self._filesystem.mv(aside, target)
        return self.head(key).etag

    def _put_spooled(self, key: str, parts: Iterable[Data]) -> str:
        """By way of a file on this disk, which the filesystem sends as one upload."""
        path = self._path(key)
        with tempfile.NamedTemporaryFile(prefix="stager-") as spool:
            for part in parts:
                spool.write(part)
            spool.flush()
            with self._translated(key):
                self._filesystem.put_file(spool.name, path)
        return self.head(key).etag

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """See ObjectStore.list; fsspec gives the whole listing at once."""
        folder = prefix.rpartition("/")[0]
        with self._translated(prefix):
            self._filesystem.invalidate_cache()
            path = self._path(folder) if folder else self._root
            found = self._flat(path) if self._scheme in FLAT else self._walked(path)
            infos = [self._info(facts) for facts in found if facts["type"] == "file"]
        for info in infos:
            if info is not None and info.key.startswith(prefix):
                yield info

    def _flat(self, path: str) -> Iterable[dict[str, Any]]:
        try:
            found: dict[str, dict[str, Any]] = self._filesystem.find(path, detail=True)
        except FileNotFoundError:
            return ()
        return found.values()

    def _walked(self, path: str) -> Iterable[dict[str, Any]]:
        """Folder by folder. fsspec's own walk leaves out a folder that it cannot list.

        Its `on_error` is not handed down to the folders below (2026.9).
        """
        found: dict[str, dict[str, Any]] = {}
        folders = [path]
        while folders:
            folder = folders.pop()
            try:
                listing = self._filesystem.ls(folder, detail=True)
            except FileNotFoundError:
                continue
            for facts in listing:
                name = facts["name"].rstrip("/")
                if facts["type"] != "directory":
                    found[name] = facts
                elif name.strip("/") != folder.strip("/"):
                    folders.append(name)
        return [found[name] for name in sorted(found)]

    def unfinished(self) -> Iterator[ObjectInfo]:
        """See ObjectStore.unfinished."""
        return iter(())

    def delete(self, keys: Iterable[str]) -> None:
        """See ObjectStore.delete."""
        for key in keys:
            with contextlib.suppress(ObjectNotFound), self._translated(key):
                self._filesystem.rm_file(self._path(key))

    def _pipe(self, key: str, data: Data, extra: dict[str, str]) -> str:
        with self._translated(key):
            self._make_folder(key)
            self._filesystem.pipe_file(self._path(key), bytes(data), **extra)
        return self.head(key).etag

    def _check(self, key: str, if_match: str) -> None:
        if self.head(key).etag != if_match:
            raise PreconditionFailed(url=self._at(key))

    def _rest(self, key: str, data: bytes, start: int, end: int | None) -> bytes:
        """The range in what came, when that is the whole object or its open end; else an error.

        Some servers answer a range with the whole, OSS one that it cannot satisfy.
        """
        size = self.head(key).size
        stop = size if end is None else end
        if stop > size or start >= size:
            raise StorageError(url=self._at(key), reason=f"ends at byte {size}")
        if len(data) == size:
            return data[start:stop]
        if end is None and len(data) == size - start:
            return data
        reason = f"{len(data)} bytes came of a range of {stop - start}"
        raise StorageUnavailable(url=self._at(key), reason=reason)

    def _make_folder(self, key: str) -> None:
        if self._has_folders:
            self._filesystem.makedirs(self._path(key).rpartition("/")[0], exist_ok=True)

    def _abandon(self, file: Any, aside: str, buffered: bool) -> None:
        """Leaves no object behind: closing a buffered file would publish the half that came."""
        with contextlib.suppress(Exception):
            if buffered:
                file.closed = True
                file.discard()
            else:
                file.close()
                self._filesystem.rm_file(aside)

    def _at(self, key: str) -> str:
        return f"{self.url}/{key}"

    def _path(self, key: str) -> str:
        check_key(self.url, key)
        if (
            self._scheme == "s3" and "?versionId=" in key
        ):  # s3fs takes it for the version of another key
            raise ObjectUnaddressable(url=self._at(key), reason="'?versionId=' in the key")
        return f"{self._root}/{key}"

    def _info(self, facts: dict[str, Any]) -> ObjectInfo | None:
        """None for what is no object of this store: the root itself, a folder placeholder."""
        name = facts["name"]
        key = name.lstrip("/")[len(self._root.strip("/")) :].lstrip("/")
        if not key or key.endswith("/"):
            return None
        etag = facts.get("ETag") or facts.get("etag")
        modified = _moment(
            facts.get("LastModified") or facts.get("mtime") or facts.get("created") or 0.0
        )
        if not etag:
            etag = f"{modified}-{facts['size']}"
        return ObjectInfo(key, int(facts["size"]), str(etag).strip('"'), modified)

    @contextlib.contextmanager
    def _translated(self, key: str) -> Iterator[None]:
        try:
            yield
        except StagerError:
            raise
        except Exception as problem:  # noqa: BLE001  a filesystem raises what it likes
            raise translate(problem, self._at(key)) from stand_in(problem)


def _moment(value: Any) -> float:
    """Seconds since the epoch, of a time as filesystems write it."""
    if isinstance(value, datetime):
        return value.timestamp()
    if not isinstance(value, str):
        return float(value)
    try:
        return datetime.fromisoformat(value).timestamp()
    except ValueError:
        from email.utils import parsedate_to_datetime

        return parsedate_to_datetime(value).timestamp()  # cosfs: as the HTTP header has it
