"""storage/create_only.py: what a store honours, and what is done when it does not."""

from __future__ import annotations

import pytest

from stager.errors import AccessDenied, PreconditionFailed
from stager.storage.create_only import SETTLE_SECONDS, NonceCreate, probe
from stager.storage.obstore_store import open_memory
from stager.storage.resilient import Wrapper
from stager.storage.store import Data
from tests.unit.storage.scripted import Scripted


class Ignoring(Wrapper):
    """A store that answers 200 to a conditional write over an existing object."""

    def create(self, key: str, data: Data) -> str:
        """Overwrites."""
        return self.inner.put(key, data)


def test_T51_a_store_is_asked_and_nothing_is_left_behind() -> None:
    memory = open_memory("memory://probe")
    assert probe(memory)
    assert not probe(Ignoring(memory))
    assert list(memory.list()) == []


def test_a_probe_that_fails_cleans_up_too() -> None:
    memory = open_memory("memory://probe")
    with pytest.raises(AccessDenied):
        probe(Scripted(memory, ".D."))
    assert list(memory.list()) == []


def test_T50_the_first_of_two_keeps_the_key() -> None:
    waited: list[float] = []
    memory = open_memory("memory://nonce")
    store = NonceCreate(Ignoring(memory), waited.append)
    etag = store.create("v4.json", b"first")
    assert etag == memory.head("v4.json").etag
    with pytest.raises(PreconditionFailed):
        store.create("v4.json", b"second")
    assert bytes(memory.get("v4.json")) == b"first"
    assert waited == [SETTLE_SECONDS]


def test_T50_whoever_is_overwritten_while_settling_has_lost() -> None:
    memory = open_memory("memory://nonce")
    rival = Ignoring(memory)
    store = NonceCreate(rival, lambda seconds: rival.create("v4.json", b"rival") and None)
    with pytest.raises(PreconditionFailed):
        store.create("v4.json", b"mine")
    assert bytes(memory.get("v4.json")) == b"rival"


def test_an_error_of_the_store_is_not_a_lost_race() -> None:
    store = NonceCreate(Scripted(open_memory("memory://nonce"), "D"), lambda seconds: None)
    with pytest.raises(AccessDenied):
        store.create("v4.json", b"mine")
