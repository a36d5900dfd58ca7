"""catalog/census.py: all records in one listing, and whose content must stay."""

from __future__ import annotations

import time
from collections.abc import Collection

import pytest

from stager.catalog import census
from stager.catalog.census import Version
from stager.model import layout
from stager.storage.obstore_store import open_memory
from tests.unit.catalog.aged import Aged
from tests.unit.storage.scripted import Scripted

DAY = 86_400.0


@pytest.fixture
def store() -> Aged:
    """An empty remote."""
    return Aged(open_memory("memory://census"))


def holders(store: Aged, tagged: Collection[Version] = ()) -> dict[str, bool]:
    """Keys of the records that count with a grace of a week, and whether they are alive."""
    found = census.take(store).holders(time.time() - 7 * DAY, tagged)
    return {holder.key: holder.live for holder in found}


def orphans(store: Aged, tagged: Collection[Version] = ()) -> list[str]:
    """Keys of companions that are gone for good with a grace of a week."""
    return [info.key for info in census.take(store).orphans(time.time() - 7 * DAY, tagged)]


def test_one_listing_finds_everything(store: Aged) -> None:
    for key in (
        layout.version_key("a/b", "v1"),
        layout.verified_key("a/b", "v1"),
        layout.removed_key("a", "v2"),
        layout.buried_key("a", "v2"),
        layout.tag_key("a", "prod", 3),
        layout.tag_key("a", "prod", 12),
        "datasets/a/versions/README",
        "datasets/readme.txt",
    ):
        store.put(key, b"x")
    counted = Scripted(store)
    found = census.take(counted)
    assert counted.asked == [("list", "datasets/")]
    assert set(found.versions) == set(found.verified) == {("a/b", "v1")}
    assert set(found.removed) == set(found.buried) == {("a", "v2")}
    assert found.tags == {("a", "prod"): 12}


def test_a_version_holds_however_old_it_is(store: Aged) -> None:
    keys = [layout.version_key("a", "v1"), layout.verified_key("a", "v1")]
    for key in keys:
        store.put(key, b"x")
    store.age(900 * DAY)
    assert holders(store) == dict.fromkeys(keys, True)
    assert orphans(store) == []


def test_a_removed_version_holds_until_the_grace_is_over(store: Aged) -> None:
    keys = [layout.removed_key("a", "v1"), layout.buried_key("a", "v1")]
    for key in keys:
        store.put(key, b"x")
    store.age(6 * DAY)
    assert holders(store) == dict.fromkeys(keys, False)
    store.age(2 * DAY)
    assert holders(store) == {}
    assert orphans(store) == keys[1:]


def test_a_companion_counts_from_the_removal(store: Aged) -> None:
    """The verified record was written long before its version went."""
    store.put(layout.verified_key("a", "v1"), b"x")
    store.age(90 * DAY)
    store.put(layout.removed_key("a", "v1"), b"x")
    assert set(holders(store)) == {
        layout.verified_key("a", "v1"),
        layout.removed_key("a", "v1"),
    }
    assert orphans(store) == []


def test_a_removal_that_was_not_finished_is_none(store: Aged) -> None:
    store.put(layout.version_key("a", "v1"), b"x")
    store.put(layout.removed_key("a", "v1"), b"x")
    store.age(90 * DAY)
    assert holders(store) == {layout.version_key("a", "v1"): True}


def test_what_a_tag_points_to_holds_though_it_was_removed_long_ago(store: Aged) -> None:
    for key in (layout.removed_key("a", "v1"), layout.buried_key("a", "v1")):
        store.put(key, b"x")
    store.age(90 * DAY)
    assert len(holders(store, {("a", "v1")})) == 2
    assert orphans(store, {("a", "v1")}) == []
