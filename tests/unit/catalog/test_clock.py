"""catalog/clock.py: the store's own time."""

from __future__ import annotations

import time

import pytest

from stager.catalog import clock
from stager.errors import AccessDenied
from stager.storage.obstore_store import open_memory
from stager.storage.resilient import Wrapper
from stager.storage.store import ObjectInfo
from tests.unit.storage.scripted import Scripted


class Ahead(Wrapper):
    """A store whose clock runs an hour before ours."""

    def head(self, key: str) -> ObjectInfo:
        """An hour later."""
        found = self.inner.head(key)
        return found._replace(modified=found.modified + 3600)


def test_the_stores_clock_counts_not_ours() -> None:
    store = Ahead(open_memory("memory://clock"))
    assert clock.now(store) == pytest.approx(time.time() + 3600, abs=60)
    assert list(store.list()) == []


def test_a_store_that_fails_leaves_nothing_either() -> None:
    memory = open_memory("memory://clock")
    with pytest.raises(AccessDenied):
        clock.now(Scripted(memory, ".D"))
    assert list(memory.list()) == []
