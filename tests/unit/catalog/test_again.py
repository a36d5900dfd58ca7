"""catalog/again.py: damage is looked at twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stager.catalog import placements, record_indexes, remote, tags, versions
from stager.catalog.again import twice
from stager.catalog.tags import TagMovement
from stager.errors import IntegrityError, ManifestInvalid, ObjectNotFound
from stager.events import ignore
from stager.model.records import Units
from stager.storage.obstore_store import open_memory
from stager.storage.resilient import Wrapper
from stager.storage.store import Data, ObjectStore
from tests.unit.examples import placed, record

PLACEMENT, _ = placed({"a": b"x" * 100})


class Flipping(Wrapper):
    """The first `count` reads have one bit that is another."""

    def __init__(self, inner: ObjectStore, count: int) -> None:
        super().__init__(inner)
        self.count = count
        self.reads = 0

    def get(self, key: str, start: int = 0, end: int | None = None, if_match: str = "") -> Data:
        """Flipped where it breaks a document of text, too."""
        return self._flipped(self.inner.get(key, start, end, if_match))

    def read(self, key: str, most: int) -> Data:
        """As `get`, for documents."""
        return self._flipped(self.inner.read(key, most))

    def _flipped(self, whole: Data) -> Data:
        data = bytearray(whole)
        self.reads += 1
        if self.reads <= self.count:
            data[0] ^= 1
        return data


def reads(store: ObjectStore) -> dict[str, Callable[[ObjectStore], object]]:
    """Every document of a remote, and how it is read."""
    opened = remote.open_for_writing(store, ignore)
    key = placements.write(opened, PLACEMENT)
    versions.commit(opened, record("data"), "v1", lambda: None)
    tags.move(opened, "data", "prod", TagMovement("v1", "2026-12-01T00:00:00Z", "somebody"))
    units = Units([3, 4], [1, 2])
    record_indexes.write(opened, "packs/aa/bb", record_indexes.packed([(0, units)]))
    return {
        "placement": lambda store: placements.read(store, key),
        "holdings": lambda store: placements.read_holdings(store, key),
        "record": lambda store: versions.read(store, "data", "v1"),
        "tag": lambda store: tags.read(store, "data", "prod"),
        "remote": remote.open_for_reading,
        "index": lambda store: record_indexes.read(store, "packs/aa/bb"),
    }


def test_T63_a_document_that_a_link_damaged_is_read_again() -> None:
    store = open_memory("memory://again")
    for name, read in reads(store).items():
        flipping = Flipping(store, 1)
        read(flipping)
        assert flipping.reads == 2, name


def test_T9_what_lies_damaged_in_the_store_is_refused_after_two_looks() -> None:
    store = open_memory("memory://again")
    for name, read in reads(store).items():
        flipping = Flipping(store, 9)
        with pytest.raises(IntegrityError):
            read(flipping)
        assert flipping.reads == 2, name


def test_what_is_not_damage_is_looked_at_once() -> None:
    looks: list[int] = []

    def absent() -> None:
        looks.append(1)
        raise ObjectNotFound(url="x")

    with pytest.raises(ObjectNotFound):
        twice(absent)
    assert len(looks) == 1
    with pytest.raises(ManifestInvalid):
        twice(lambda: placements.unpack(b"", "placements/aa/bb"))
