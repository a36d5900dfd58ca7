"""catalog/removed.py: what a removed version was."""

from __future__ import annotations

import time

import pytest

from stager.catalog import removed
from stager.errors import IntegrityError
from stager.model import layout
from stager.storage.obstore_store import open_memory
from tests.unit.catalog.aged import Aged


@pytest.fixture
def store() -> Aged:
    """An empty remote."""
    return Aged(open_memory("memory://removed"))


def test_a_removal_keeps_the_bytes_and_the_companion(store: Aged) -> None:
    removed.bury(store, "alpaca", "v3", b"record", b"verified")
    assert removed.content(store, "alpaca", "v3") == b"record"
    assert bytes(store.get(layout.buried_key("alpaca", "v3"))) == b"verified"
    assert removed.labels(store, "alpaca") == ["v3"]
    assert removed.labels(store, "alpaca/v3") == removed.labels(store, "alp") == []
    assert removed.when(store, "alpaca", "v3").startswith(time.strftime("20"))


def test_what_was_not_removed(store: Aged) -> None:
    assert removed.content(store, "alpaca", "v3") is None
    assert removed.when(store, "alpaca", "v3") == ""


def test_a_removal_that_is_repeated_counts_from_the_last_time(store: Aged) -> None:
    """Or a version would be old the moment it goes, and its bytes go under a running push."""
    removed.bury(store, "alpaca", "v3", b"record", None)
    store.age(30 * 86_400)
    removed.bury(store, "alpaca", "v3", b"record", None)
    key = layout.removed_key("alpaca", "v3")
    assert store.head(key).modified == pytest.approx(time.time(), abs=60)


def test_another_version_of_that_label_is_not_written_over(store: Aged) -> None:
    removed.bury(store, "alpaca", "v3", b"record", None)
    with pytest.raises(IntegrityError, match="alpaca@v3"):
        removed.bury(store, "alpaca", "v3", b"other", None)
    assert removed.content(store, "alpaca", "v3") == b"record"


def test_T26_a_removal_of_absurd_size_is_not_read(store: Aged) -> None:
    store.put(layout.removed_key("alpaca", "v3"), b" " * 2_000_000)
    with pytest.raises(IntegrityError):
        removed.content(store, "alpaca", "v3")
