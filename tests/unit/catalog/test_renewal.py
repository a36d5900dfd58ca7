"""catalog/renewal.py: a push must not rely on what a `gc` may be about to delete."""

from __future__ import annotations

import pytest

from stager.catalog.renewal import SETTLE_SECONDS, WINDOW_SECONDS, Renewal
from stager.errors import StorageError
from stager.model.layout import FRESH_SECONDS
from stager.storage.obstore_store import open_memory
from stager.storage.resilient import Wrapper
from stager.storage.store import ObjectInfo
from tests.unit.catalog.aged import Aged


class Trial:
    """A store, a renewal of it, and the pauses it made."""

    def __init__(self) -> None:
        self.store = Aged(open_memory("memory://renewal"))
        self.pauses: list[float] = []
        self.renewal = Renewal(self.store, self.pauses.append)

    def settle(self) -> list[str]:
        """What was looked at once more."""
        keys = list(self.renewal.settled())
        for key in keys:
            self.renewal.check(key)
        return keys


def test_what_is_not_there_is_sent_and_nobody_waits() -> None:
    trial = Trial()
    assert not trial.renewal.is_there("pack", 3)
    trial.store.put("pack", b"abc")
    assert (trial.settle(), trial.pauses) == ([], [])


def test_what_is_young_and_whole_is_not_sent_again() -> None:
    trial = Trial()
    trial.store.put("pack", b"abc")
    trial.store.age(FRESH_SECONDS - 60, "pack")
    assert trial.renewal.is_there("pack", 3)
    assert (trial.settle(), trial.pauses) == ([], [])
    assert [info.key for info in trial.store.list()] == ["pack"]


@pytest.mark.parametrize(("age", "size"), [(FRESH_SECONDS + 60, 3), (0, 4)], ids=["old", "other"])
def test_what_is_old_or_other_is_sent_and_looked_at_once_more(age: float, size: int) -> None:
    trial = Trial()
    trial.store.put("pack", b"abc")
    trial.store.age(age, "pack")
    assert not trial.renewal.is_there("pack", size)
    trial.store.put("pack", b"x" * size)
    assert (trial.settle(), trial.pauses) == (["pack"], [SETTLE_SECONDS])


def test_K60_what_a_gc_took_after_it_was_sent_fails_the_push() -> None:
    trial = Trial()
    trial.store.put("pack", b"abc")
    trial.store.age(FRESH_SECONDS + 60, "pack")
    assert not trial.renewal.is_there("pack", 3)
    trial.store.put("pack", b"abc")
    trial.store.delete(["pack"])
    with pytest.raises(StorageError, match="garbage"):
        trial.settle()


def test_a_store_without_times_is_never_believed() -> None:
    class Timeless(Wrapper):
        """Says nothing of when."""

        def head(self, key: str) -> ObjectInfo:
            """Without a time."""
            return self.inner.head(key)._replace(modified=0.0)

    store = Timeless(open_memory("memory://renewal"))
    store.put("pack", b"abc")
    assert not Renewal(store).is_there("pack", 3)


def test_the_wait_outlasts_the_look_of_a_gc() -> None:
    assert SETTLE_SECONDS >= 2 * WINDOW_SECONDS
