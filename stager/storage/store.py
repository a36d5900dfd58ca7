"""The protocol every store speaks, and what it promises.

Keys are relative to the store's URL, use `/`, and are passed as they are: no escaping is
visible above this line. A key that not every store can hold apart from others (an empty or
dotted segment, a slash at an end, NUL, text that is not Unicode) is ObjectUnaddressable.
Failures are StorageError and below, or DiskFull where the store is a local disk, translated
by the implementation; nothing else escapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from stager.errors import ManifestInvalid, ObjectUnaddressable, StorageError

Data = bytes | bytearray | memoryview


class ObjectInfo(NamedTuple):
    """One object: key relative to the store, size in bytes, ETag without quotes, UTC time."""

    key: str
    size: int
    etag: str
    modified: float = 0.0  # seconds since the epoch


class Capabilities(NamedTuple):
    """What a store cannot do is said here, once, and told to the user where it matters."""

    create_only: bool = True  # create() is atomic at the store (see create_only.py)
    if_match: bool = True  # get(if_match=...) is checked by the store itself
    etags: bool = True  # other content has another ETag, always
    limits: tuple[str, ...] = ()  # what else it cannot do, each a clause for the user


class ObjectStore(Protocol):
    """A flat name space of immutable-looking objects below `url`."""

    url: str
    capabilities: Capabilities

    def get(self, key: str, start: int = 0, end: int | None = None, if_match: str = "") -> Data:
        """Bytes [start, end) of the object, exactly that many, or an error.

        `end=None` reads to the end. A range that is empty or reaches past the end is
        StorageError, never short.
        With `if_match`, PreconditionFailed unless the object still has that ETag.
        ObjectNotFound when there is none.
        """
        ...

    def read(self, key: str, most: int) -> Data:
        """The whole object, in one request; ManifestInvalid when it is over `most` bytes.

        For documents: what a bucket holds at their keys may be anything, and of any size.
        ObjectNotFound when there is none.
        """
        ...

    def head(self, key: str) -> ObjectInfo:
        """Size and ETag; ObjectNotFound when there is none."""
        ...

    def put(self, key: str, data: Data) -> str:
        """Writes the whole object, atomically, over what was there; its ETag."""
        ...

    def create(self, key: str, data: Data) -> str:
        """As put, but PreconditionFailed when the key exists: of many, one succeeds."""
        ...

    def put_stream(self, key: str, parts: Iterable[Data]) -> str:
        """Multipart: the parts become one object when the last has arrived, or nothing.

        Memory is bounded by a few parts. An exception from `parts` aborts the upload.
        """
        ...

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """Objects whose key starts with `prefix`, streamed where the transport can.

        The order is the store's own: byte order on S3, but SeaweedFS lists `a/b` before
        `a-b`. Folder placeholders are left out where the transport shows them as such.
        """
        ...

    def unfinished(self) -> Iterator[ObjectInfo]:
        """What killed writers left and list() hides; head() and delete() take these keys.

        Nothing where the store keeps such things to itself: S3 drops the parts of broken
        uploads by a rule of the bucket.
        """
        ...

    def delete(self, keys: Iterable[str]) -> None:
        """Removes objects; one that is not there counts as removed."""
        ...


def check_key(url: str, key: str) -> None:
    """ObjectUnaddressable for a key that some store would take for another one."""
    if not {"", ".", ".."}.isdisjoint(key.split("/")):
        raise ObjectUnaddressable(url=f"{url}/{key}", reason="an empty or dotted segment")
    if "\0" in key or (not key.isprintable() and any("\ud800" <= char <= "\udfff" for char in key)):
        raise ObjectUnaddressable(url=f"{url}/{key!r}", reason="NUL, or text that is not Unicode")


def too_large(url: str, size: int, most: int) -> ManifestInvalid:
    """The error for a document that is none, by its size."""
    reason = f"{size} bytes; at most {most} were expected"
    return ManifestInvalid(where=url, kind="document", reason=reason)


def check_range(url: str, key: str, start: int, end: int | None) -> None:
    """StorageError for a range that holds no byte: stores answer those each in their own way."""
    if start < 0 or (end is not None and end <= start):
        raise StorageError(url=f"{url}/{key}", reason=f"no byte in the range {start} to {end}")
