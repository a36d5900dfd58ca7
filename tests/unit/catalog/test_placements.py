"""catalog/placements.py: placements as they are stored."""

from __future__ import annotations

import hashlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from stager.catalog import placements
from stager.errors import DigestMismatch, IntegrityError, ManifestInvalid, StorageError
from stager.model.digest import digest_of
from stager.model.layout import placement_key
from stager.model.version import PlacementKey
from stager.storage.obstore_store import open_memory
from stager.storage.store import Data
from tests.unit.examples import contents, placed
from tests.unit.storage.scripted import Scripted

PLACEMENT, _ = placed({"a": b"x" * 100, "b/c": b"y" * 200})


class AsS3(Scripted):
    """ETags are the MD5 of the content."""

    def put(self, key: str, data: Data) -> str:
        super().put(key, data)
        return hashlib.md5(data).hexdigest()


@given(contents())
def test_there_and_back_in_one_request_each(files: dict[str, bytes]) -> None:
    placement, _ = placed(files)
    store = AsS3(open_memory("memory://placements"))
    key = placements.write(store, placement)
    found, stored = placements.read(store, key)
    assert found.encode() == placement.encode()
    assert (len(stored), len(placement.encode())) == (key.stored, key.raw)
    assert store.asked == [("put", key.key), ("get", key.key)]


def test_equal_placements_have_one_key() -> None:
    again, _ = placed({"b/c": b"y" * 200, "a": b"x" * 100})
    assert placements.pack(again)[1].raw == placements.pack(PLACEMENT)[1].raw
    assert placements.pack(PLACEMENT) == placements.pack(PLACEMENT)


@given(st.integers(0), st.integers(0, 7))
def test_T9_a_flipped_bit_never_passes(at: int, bit: int) -> None:
    stored, key = placements.pack(PLACEMENT)
    damaged = bytearray(stored)
    damaged[at % len(damaged)] ^= 1 << bit
    try:
        found = placements.unpack(bytes(damaged), key.key, key.raw)
    except IntegrityError:
        return
    assert found.encode() == PLACEMENT.encode()


@given(st.binary(max_size=100))
def test_random_bytes_are_refused_in_one_way(data: bytes) -> None:
    with pytest.raises(IntegrityError):
        placements.unpack(data, "placements/aa/bb", 100)


def test_T26_another_placement_under_the_key_is_a_mismatch() -> None:
    stored, key = placements.pack(PLACEMENT)
    other, _ = placed({"a": b"z"})
    with pytest.raises(DigestMismatch) as caught:
        placements.unpack(stored, placements.pack(other)[1].key, key.raw)
    assert caught.value.fields["actual"] == digest_of(PLACEMENT.encode()).hex


def test_a_bomb_is_refused_by_its_number() -> None:
    raw = bytes(50_000_000)
    bomb = zstandard.ZstdCompressor().compress(raw)
    with pytest.raises(ManifestInvalid, match="50000000 bytes"):
        placements.unpack(bomb, placement_key(digest_of(raw)), 1000)


@pytest.mark.parametrize("change", [-1, 1])
def test_a_record_that_gives_another_size_is_refused(change: int) -> None:
    store = open_memory("memory://placements")
    key = placements.write(store, PLACEMENT)
    with pytest.raises((IntegrityError, StorageError)):
        placements.read(store, PlacementKey(key.key, key.stored + change, key.raw))
    with pytest.raises(IntegrityError):
        placements.read(store, PlacementKey(key.key, key.stored, key.raw + change))


def test_holdings_are_checked_as_the_whole_is() -> None:
    store = open_memory("memory://placements")
    key = placements.write(store, PLACEMENT)
    assert placements.read_holdings(store, key).packs == PLACEMENT.packs
    other, _ = placed({"other": b"z"})
    stored, wrong = placements.pack(other)
    store.put(key.key, stored)
    with pytest.raises(DigestMismatch):
        placements.read_holdings(store, PlacementKey(key.key, wrong.stored, wrong.raw))
