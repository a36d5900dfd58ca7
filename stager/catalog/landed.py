"""Whether what a store says it wrote is there.

A proxy on the way may answer for the store, and a write without its body is a write too. The
ETag of a simple PUT is the MD5 of its content on S3, OSS and COS, unless the store encrypts
with a key of its own: where it is that, it proves the write for nothing. Else one HEAD tells.
"""

from __future__ import annotations

import hashlib
import re

from stager.errors import ObjectNotFound, StorageUnavailable
from stager.storage.store import Data, ObjectStore

SMALL = 1024 * 1024  # bytes; a HEAD is cheaper than the MD5 of more
_MD5 = re.compile(r"[0-9a-fA-F]{32}")


def put(store: ObjectStore, key: str, data: Data) -> str:
    """As ObjectStore.put; StorageUnavailable when the object is not there afterwards."""
    return _checked(store, key, data, store.put(key, data))


def create(store: ObjectStore, key: str, data: Data) -> str:
    """As ObjectStore.create; StorageUnavailable when the object is not there afterwards."""
    return _checked(store, key, data, store.create(key, data))


def _checked(store: ObjectStore, key: str, data: Data, etag: str) -> str:
    if _proves(etag, data):
        return etag
    reason = "the write was answered, and is not there"
    try:
        size = store.head(key).size
    except ObjectNotFound:
        raise StorageUnavailable(url=f"{store.url}/{key}", reason=reason) from None
    if size != len(data):
        raise StorageUnavailable(url=f"{store.url}/{key}", reason=f"{reason}: {size} bytes are")
    return etag


def _proves(etag: str, data: Data) -> bool:
    """Whether this ETag comes from a store that has the content."""
    if not _MD5.fullmatch(etag) or len(data) > SMALL:
        return False
    return hashlib.md5(data, usedforsecurity=False).hexdigest() == etag.lower()
