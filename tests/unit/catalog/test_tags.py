"""catalog/tags.py: movable names without a compare-and-swap."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stager.catalog import tags
from stager.catalog.tags import TagMovement
from stager.errors import ManifestInvalid, TagMoved
from stager.model import layout
from stager.storage.obstore_store import ObstoreStore, open_memory
from tests.unit.storage.scripted import Scripted


@pytest.fixture
def store() -> ObstoreStore:
    """An empty remote."""
    return open_memory("memory://tags")


def movement(version: str) -> TagMovement:
    """A tag at this version."""
    return TagMovement(version, "2026-11-30T22:00:00Z", "somebody")


def test_a_tag_is_where_it_was_moved_last(store: ObstoreStore) -> None:
    assert tags.read(store, "alpaca", "prod") is None
    for version in ("v1", "v3", "v2"):
        tags.move(store, "alpaca", "prod", movement(version))
        assert tags.read(store, "alpaca", "prod") == version
    assert tags.everything(store, "alpaca") == {"prod": "v2"}


def test_a_removed_tag_is_gone_and_can_come_back(store: ObstoreStore) -> None:
    tags.move(store, "alpaca", "prod", movement("v1"))
    tags.move(store, "alpaca", "prod", movement(""))
    assert tags.read(store, "alpaca", "prod") is None
    assert tags.everything(store, "alpaca") == {}
    tags.move(store, "alpaca", "prod", movement("v2"))
    assert tags.read(store, "alpaca", "prod") == "v2"


def test_the_eleventh_movement_is_later_than_the_second(store: ObstoreStore) -> None:
    for number in range(1, 13):
        tags.move(store, "alpaca", "prod", movement(f"v{number}"))
    assert tags.read(store, "alpaca", "prod") == "v12"


def test_T28_tags_of_names_that_begin_alike_do_not_mix(store: ObstoreStore) -> None:
    tags.move(store, "c4", "prod", movement("v1"))
    tags.move(store, "c4-en", "prod", movement("v2"))
    tags.move(store, "c4", "prod-2", movement("v3"))
    assert tags.read(store, "c4", "prod") == "v1"
    assert tags.everything(store, "c4") == {"prod": "v1", "prod-2": "v3"}


def test_T50_of_two_who_move_a_tag_at_once_one_is_told(store: ObstoreStore) -> None:
    class Late(Scripted):
        """Somebody else moves the tag between our look and our write."""

        def create(self, key: str, data: object) -> str:
            tags.move(self.inner, "alpaca", "prod", movement("v9"))
            return super().create(key, data)  # type: ignore[arg-type]

    with pytest.raises(TagMoved, match="alpaca@prod"):
        tags.move(Late(store), "alpaca", "prod", movement("v1"))
    assert tags.read(store, "alpaca", "prod") == "v9"


@pytest.mark.parametrize(
    "changes",
    [
        {"format": 2},
        {"version": 7},
        {"version": None},
        {"version": "../v1"},
        {"version": "v1/../../x"},
        {"more": 1},
        {"time": ["now"]},
    ],
    ids=str,
)
def test_T26_a_hostile_tag_is_refused(store: ObstoreStore, changes: dict[str, Any]) -> None:
    document = {"version": "v1", "time": "now", "author": "me", "format": 1} | changes
    store.put(layout.tag_key("alpaca", "prod", 1), json.dumps(document).encode())
    with pytest.raises(ManifestInvalid):
        tags.read(store, "alpaca", "prod")


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"null", b"\xff", b"[" * 60_000, b" " * (tags.MAX_TAG_BYTES + 1)],
    ids=lambda data: repr(data[:20]),
)
def test_a_tag_of_another_shape_is_refused(store: ObstoreStore, data: bytes) -> None:
    store.put(layout.tag_key("alpaca", "prod", 1), data)
    with pytest.raises(ManifestInvalid):
        tags.read(store, "alpaca", "prod")


def test_T17_strangers_among_the_tags_are_left_alone(store: ObstoreStore) -> None:
    tags.move(store, "alpaca", "prod", movement("v1"))
    store.put("datasets/alpaca/tags/prod/README", b"hello")
    store.put("datasets/alpaca/tags/readme.json", b"hello")
    assert tags.read(store, "alpaca", "prod") == "v1"
    assert tags.everything(store, "alpaca") == {"prod": "v1"}


def test_a_number_written_with_more_zeros_is_no_reason_to_fail(store: ObstoreStore) -> None:
    tags.move(store, "alpaca", "prod", movement("v1"))
    store.put("datasets/alpaca/tags/prod/000000000000002.json", b"{}")
    assert tags.read(store, "alpaca", "prod") == "v1"
