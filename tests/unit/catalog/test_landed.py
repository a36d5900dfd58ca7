"""catalog/landed.py: an answer is not yet an object."""

from __future__ import annotations

import hashlib

import pytest

from stager.catalog import landed
from stager.errors import PreconditionFailed, StorageUnavailable
from stager.storage.obstore_store import ObstoreStore, open_memory
from stager.storage.resilient import Wrapper
from stager.storage.store import Data, ObjectInfo, ObjectStore

OF_NOTHING = hashlib.md5(b"").hexdigest()


class Answering(Wrapper):
    """A store that answers a write with an ETag of MD5's form; `keep` says what it stores."""

    def __init__(self, inner: ObjectStore, etag: str = "", keep: int | None = -1) -> None:
        super().__init__(inner)
        self.etag = etag
        self.keep = keep
        self.heads = 0

    def put(self, key: str, data: Data) -> str:
        """Stores all, a part, or nothing."""
        if self.keep is not None:
            self.inner.put(key, data if self.keep < 0 else bytes(data)[: self.keep])
        return self.etag or hashlib.md5(data).hexdigest()

    def create(self, key: str, data: Data) -> str:
        """As put."""
        return self.put(key, data)

    def head(self, key: str) -> ObjectInfo:
        """Counted."""
        self.heads += 1
        return self.inner.head(key)


@pytest.fixture
def memory() -> ObstoreStore:
    """Where things land."""
    return open_memory("memory://landed")


@pytest.mark.parametrize("write", [landed.put, landed.create])
@pytest.mark.parametrize("keep", [None, 0, 3])
@pytest.mark.parametrize("size", [10, landed.SMALL + 1])
def test_a_write_that_was_answered_and_is_not_there(
    memory: ObstoreStore, write: object, keep: int | None, size: int
) -> None:
    store = Answering(memory, OF_NOTHING, keep)
    with pytest.raises(StorageUnavailable, match="is not there"):
        write(store, "key", bytes(size))  # type: ignore[operator]


def test_the_md5_of_a_small_object_proves_it_for_nothing(memory: ObstoreStore) -> None:
    for etag in (hashlib.md5(b"data").hexdigest(), hashlib.md5(b"data").hexdigest().upper()):
        store = Answering(memory, etag)
        landed.put(store, "key", b"data")
        assert store.heads == 0


def test_a_large_object_and_an_encrypted_one_cost_a_head(memory: ObstoreStore) -> None:
    store = Answering(memory)
    landed.put(store, "large", bytes(landed.SMALL + 1))
    assert store.heads == 1
    store = Answering(memory, "0" * 32)
    landed.create(store, "encrypted", b"data")
    assert store.heads == 1


def test_an_etag_of_another_form_proves_nothing(memory: ObstoreStore) -> None:
    assert landed.put(memory, "key", b"data") == memory.head("key").etag
    store = Answering(memory, "0123-5")
    assert landed.put(store, "parts", b"data") == "0123-5"
    assert store.heads == 1
    with pytest.raises(StorageUnavailable, match="is not there"):
        landed.put(Answering(memory, "0", keep=None), "lost", b"data")
    with pytest.raises(PreconditionFailed):
        landed.create(memory, "key", b"other")
