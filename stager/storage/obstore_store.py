"""S3 and its dialects, Google, Azure, and process memory, through obstore.

obstore is the Apache Arrow object_store crate for Python: it releases the GIL while bytes
move and signs its own requests. Its built-in retries are switched off; `resilient.py` is
the one place that retries. What its clients are told is in `clients.py`, what their failures
mean in `obstore_errors.py`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, cast

import obstore
from obstore import exceptions as foreign

from stager.errors import ObjectNotFound, StorageError, StorageUnavailable
from stager.storage.clients import Clients, memory
from stager.storage.credentials.redaction import stand_in
from stager.storage.obstore_errors import is_mute, translate
from stager.storage.store import (
    Capabilities,
    Data,
    ObjectInfo,
    check_key,
    check_range,
    too_large,
)

PART_BYTES = 16 * 1024 * 1024
PARTS_AT_ONCE = 4
LIST_KEYS = 100  # that are handed over together; the store's pages are its own
CHUNK_BYTES = 1024 * 1024

# How create() asks a store not to overwrite: If-None-Match, a header of the vendor's that the
# client adds, or not at all.
CONDITION, HEADER, NOTHING = "if-none-match", "header", "nothing"

# What obstore says of a 200 where it asked for a range.
_WHOLE_CAME = re.compile(r"non-partial response when range requested", re.IGNORECASE)

EVERYTHING = Capabilities()


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
    """ObjectStore over obstore clients; `prefix` without slashes at its ends."""

    def __init__(
        self,
        clients: Clients,
        url: str,
        prefix: str,
        capabilities: Capabilities = EVERYTHING,
        creating: str = CONDITION,
    ) -> None:
        self.url = url
        self.capabilities = capabilities
        self._clients = clients
        self._creating = creating
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
        path = self._place.path(key)
        with self._translated(key):
            try:
                found = obstore.get(self._clients.reading, path, options=cast("Any", options))
            except foreign.BaseError as problem:
                if not (options.pop("range", None) and _WHOLE_CAME.search(str(problem))):
                    raise
                return self._cut(path, start, end, options)
            data = memoryview(found.buffer())
        if end is not None and len(data) != end - start:
            raise self._short(key, end, len(data), found.meta["size"])
        return data

    def read(self, key: str, most: int) -> Data:
        """See ObjectStore.read: the size is known before the body is read."""
        with self._translated(key):
            found = obstore.get(self._clients.reading, self._place.path(key))
            size = found.meta["size"]
            if size <= most:
                return memoryview(found.buffer())
        raise too_large(self._at(key), size, most)

    def head(self, key: str) -> ObjectInfo:
        """See ObjectStore.head.

        A refused HEAD has no body that says why, an expired token for one; a GET has.
        """
        path = self._place.path(key)
        with self._translated(key):
            try:
                return self._info(obstore.head(self._clients.reading, path))
            except foreign.BaseError as problem:
                if not is_mute(problem):
                    raise
                return self._info(obstore.get(self._clients.reading, path).meta)

    def put(self, key: str, data: Data) -> str:
        """See ObjectStore.put."""
        return self._put(key, data, "overwrite")

    def create(self, key: str, data: Data) -> str:
        """See ObjectStore.create."""
        return self._put(key, data, "create")

    def put_stream(self, key: str, parts: Iterable[Data]) -> str:
        """See ObjectStore.put_stream."""
        path = self._place.path(key)
        with self._translated(key), self._clients.writing(PART_BYTES * PARTS_AT_ONCE) as client:
            result = obstore.put(
                client,
                path,
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
            pages = obstore.list(self._clients.reading, prefix=path or None, chunk_size=LIST_KEYS)
            for page in pages:
                for meta in page:
                    info = self._info(meta)
                    if start and not info.key.startswith(prefix):
                        continue
                    if not info.key and not info.size:  # the placeholder of the store's own root
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
                obstore.delete(self._clients.reading, paths)

    def _put(self, key: str, data: Data, mode: Any) -> str:
        path = self._place.path(key)
        creating = self._creating if mode == "create" else ""
        with (
            self._translated(key),
            self._clients.writing(len(data), creating == HEADER) as client,
        ):
            mode = "create" if creating == CONDITION else "overwrite"
            result = obstore.put(client, path, data, mode=mode, use_multipart=False)
        return _bare(result["e_tag"])

    def _cut(self, path: str, start: int, end: int | None, options: dict[str, Any]) -> Data:
        """The range out of a body that came whole; read past in chunks, never held."""
        found = obstore.get(self._clients.reading, path, options=cast("Any", options))
        size = found.meta["size"]
        stop = size if end is None else end
        if stop > size or start > size:
            raise StorageError(url=self._at(self._place.key(path)), reason=f"ends at byte {size}")
        kept = bytearray()
        offset = 0
        for chunk in found.stream(min_chunk_size=CHUNK_BYTES):
            piece = memoryview(chunk)
            kept += piece[max(0, start - offset) : max(0, stop - offset)]
            offset += len(piece)
            if offset >= stop:
                return kept
        raise self._short(self._place.key(path), stop, len(kept), size)

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
            raise translate(problem, self._at(key)) from stand_in(problem)


def _bare(etag: str | None) -> str:
    return (etag or "").strip('"')


def open_memory(url: str) -> ObstoreStore:
    """A store that lives as long as the object; for tests and trials."""
    return ObstoreStore(memory(), url, "")
