"""catalog/versions.py: finding, reading and making versions."""

from __future__ import annotations

import hashlib

import pytest

from stager.catalog import removed, tags, versions
from stager.catalog.tags import TagMovement
from stager.errors import (
    AccessDenied,
    IntegrityError,
    ManifestInvalid,
    ObjectNotFound,
    VersionExists,
    VersionNotFound,
)
from stager.model import layout
from stager.model.names import parse_reference
from stager.model.version import MAX_RECORD_BYTES, VersionRecord
from stager.storage.obstore_store import ObstoreStore, open_memory
from tests.unit.examples import record
from tests.unit.storage.scripted import Scripted

ETAGS = f"etag:{'0' * 64}"


@pytest.fixture
def store() -> ObstoreStore:
    """An empty remote."""
    return open_memory("memory://versions")


def never() -> None:
    """For commits that race with nobody."""
    pytest.fail("there was no race")


def commit(store: ObstoreStore, name: str, label: str | None = None) -> VersionRecord:
    """A new version of a dataset."""
    return versions.commit(store, record(name), label, never)


def resolve(store: ObstoreStore, text: str) -> str:
    """The version that a reference means."""
    return versions.resolve(store, parse_reference(text)).version


def test_versions_are_numbered_in_the_order_they_are_made(store: ObstoreStore) -> None:
    assert [commit(store, "alpaca").version for _ in range(12)][-1] == "v12"
    assert versions.labels(store, "alpaca") == [f"v{number}" for number in range(1, 13)]
    assert resolve(store, "alpaca") == resolve(store, "alpaca@latest") == "v12"


def test_a_named_version_costs_one_request(store: ObstoreStore) -> None:
    commit(store, "alpaca")
    counted = Scripted(store)
    assert versions.resolve(counted, parse_reference("alpaca@v1")).version == "v1"
    assert [kind for kind, _ in counted.asked] == ["get"]


def test_a_tag_is_followed(store: ObstoreStore) -> None:
    commit(store, "alpaca")
    commit(store, "alpaca")
    tags.move(store, "alpaca", "prod", TagMovement("v1", "now", "me"))
    assert resolve(store, "alpaca@prod") == "v1"


def test_a_tag_to_a_version_that_is_gone_is_a_version_that_is_not_found(
    store: ObstoreStore,
) -> None:
    commit(store, "alpaca")
    tags.move(store, "alpaca", "prod", TagMovement("v7", "now", "me"))
    with pytest.raises(VersionNotFound):
        resolve(store, "alpaca@prod")


def test_labels_stand_beside_numbers(store: ObstoreStore) -> None:
    commit(store, "alpaca", "cleaned")
    assert commit(store, "alpaca").version == "v1"
    assert resolve(store, "alpaca@cleaned") == "cleaned"
    assert resolve(store, "alpaca") == "v1"
    with pytest.raises(VersionExists):
        commit(store, "alpaca", "cleaned")


def test_a_label_does_not_hide_a_tag(store: ObstoreStore) -> None:
    tags.move(store, "alpaca", "prod", TagMovement("v1", "now", "me"))
    with pytest.raises(VersionExists) as caught:
        commit(store, "alpaca", "prod")
    assert "tag" in caught.value.hint


def test_T50_who_loses_a_race_gets_the_next_number(store: ObstoreStore) -> None:
    races: list[str] = []

    class Late(Scripted):
        """Somebody else makes the version between our look and our write, once."""

        def create(self, key: str, data: object) -> str:
            if not races:
                commit(store, "alpaca")
            return super().create(key, data)  # type: ignore[arg-type]

    made = versions.commit(Late(store), record(), None, lambda: races.append("lost"))
    assert (made.version, races) == ("v2", ["lost"])
    assert versions.read(store, "alpaca", "v2") == made


def test_T50_races_end(store: ObstoreStore) -> None:
    class Always(Scripted):
        """Somebody else is always first."""

        def create(self, key: str, data: object) -> str:
            self.inner.put(key, b"theirs")
            return super().create(key, data)  # type: ignore[arg-type]

    with pytest.raises(VersionExists):
        versions.commit(Always(store), record(), None, lambda: None)


def test_T28_versions_of_names_that_begin_alike_do_not_mix(store: ObstoreStore) -> None:
    for name in ("c4", "c4-en", "c4/en", "c4.old"):
        commit(store, name)
    assert versions.labels(store, "c4") == ["v1"]
    assert versions.datasets(store) == ["c4", "c4-en", "c4.old", "c4/en"]


def test_what_is_near_is_named(store: ObstoreStore) -> None:
    commit(store, "alpaca", "cleaned")
    commit(store, "alpaca")
    for text, near in (
        ("alpaca@v9", "v1"),
        ("alpaca@claened", "did you mean cleaned"),
        ("alpcaa", "did you mean alpaca"),
        ("zzzz@v1", "no such dataset"),
        ("alpaca@QQQQQQ", "the latest is v1"),
    ):
        with pytest.raises(VersionNotFound) as caught:
            resolve(store, text)
        assert near in str(caught.value)


def test_T33_a_version_of_etags_is_read_with_the_digests_found_since(store: ObstoreStore) -> None:
    versions.commit(store, record(tree=ETAGS), None, never)
    assert not versions.read(store, "alpaca", "v1").is_hashed
    confirmed = record(version="v1", message="verified")
    versions.confirm(store, confirmed)
    versions.confirm(store, confirmed)
    assert versions.read(store, "alpaca", "v1") == confirmed
    assert versions.labels(store, "alpaca") == ["v1"]


def test_T31_two_first_pulls_that_found_different_bytes_are_told(store: ObstoreStore) -> None:
    versions.commit(store, record(tree=ETAGS), None, never)
    versions.confirm(store, record())
    with pytest.raises(IntegrityError, match="other content"):
        versions.confirm(store, record(tree=f"blake3:{'1' * 64}"))


def test_a_record_under_another_name_is_refused(store: ObstoreStore) -> None:
    store.put(layout.version_key("alpaca", "v2"), record("alpaca", "v1").encode())
    store.put(layout.version_key("other", "v1"), record("alpaca", "v1").encode())
    for name, label in (("alpaca", "v2"), ("other", "v1")):
        with pytest.raises(ManifestInvalid, match="alpaca@v1"):
            versions.read(store, name, label)


def test_a_record_of_absurd_size_is_refused(store: ObstoreStore) -> None:
    data = record().encode() + b" " * MAX_RECORD_BYTES
    store.put(layout.version_key("alpaca", "v1"), data)
    with pytest.raises(ManifestInvalid):
        versions.read(store, "alpaca", "v1")


def test_T59_a_denial_is_not_a_missing_version(store: ObstoreStore) -> None:
    with pytest.raises(AccessDenied):
        versions.resolve(Scripted(store, "D"), parse_reference("alpaca@v1"))


def test_what_is_not_there_is_not_found(store: ObstoreStore) -> None:
    with pytest.raises(ObjectNotFound):
        versions.read(store, "alpaca", "v1")
    assert versions.labels(store, "alpaca") == []
    assert versions.datasets(store) == []
    assert versions.next_number(store, "alpaca") == 1


def test_T17_strangers_among_the_versions_are_left_alone(store: ObstoreStore) -> None:
    commit(store, "alpaca")
    store.put("datasets/alpaca/versions/README", b"hello")
    store.put("datasets/alpaca/versions/old/v7.json", b"hello")
    store.put("datasets/readme.txt", b"hello")
    assert versions.labels(store, "alpaca") == ["v1"]
    assert versions.datasets(store) == ["alpaca"]


def remove(store: ObstoreStore, label: str, name: str = "alpaca") -> None:
    """What `rm` leaves."""
    key = layout.version_key(name, label)
    removed.bury(store, name, label, bytes(store.get(key)), None)
    store.delete([key])


def test_a_number_is_given_once_though_its_version_was_removed(store: ObstoreStore) -> None:
    for _ in range(3):
        commit(store, "alpaca")
    remove(store, "v3")
    assert versions.labels(store, "alpaca") == ["v1", "v2"]
    assert resolve(store, "alpaca") == "v2"
    assert commit(store, "alpaca").version == "v4"


def test_a_label_is_given_once(store: ObstoreStore) -> None:
    commit(store, "alpaca", "cleaned")
    remove(store, "cleaned")
    with pytest.raises(VersionExists) as caught:
        commit(store, "alpaca", "cleaned")
    assert "it was removed on 20" in caught.value.hint
    assert versions.labels(store, "alpaca") == []


def test_a_removed_version_is_not_found_and_the_error_says_when(store: ObstoreStore) -> None:
    commit(store, "alpaca")
    tags.move(store, "alpaca", "prod", TagMovement("v1", "now", "me"))
    remove(store, "v1")
    for text, said in (
        ("alpaca@v1", "it was removed on 20"),
        ("alpaca@prod", "points to v1, which was removed on 20"),
        ("alpaca", "all its versions were removed"),
    ):
        with pytest.raises(VersionNotFound, match=said):
            resolve(store, text)


def test_a_removal_that_was_not_finished_changes_nothing(store: ObstoreStore) -> None:
    made = commit(store, "alpaca", "cleaned")
    removed.bury(store, "alpaca", "cleaned", made.encode(), None)
    assert resolve(store, "alpaca@cleaned") == "cleaned"
    with pytest.raises(VersionExists) as caught:
        commit(store, "alpaca", "cleaned")
    assert caught.value.hint == ""


@pytest.mark.parametrize("label", ["cleaned", None])
def test_T50_a_version_made_and_removed_between_look_and_write_keeps_its_label(
    store: ObstoreStore, label: str | None
) -> None:
    class Late(Scripted):
        """Somebody makes the same label and removes it, right before our write."""

        rivals = 1

        def create(self, key: str, data: object) -> str:
            if self.rivals and key.startswith("datasets/"):
                self.rivals -= 1
                commit(store, "alpaca", label)
                remove(store, label or "v1")
            return super().create(key, data)  # type: ignore[arg-type]

    mine = record(message="mine")
    if label:
        with pytest.raises(VersionExists, match="cleaned"):
            versions.commit(Late(store), mine, label, lambda: None)
        assert versions.labels(store, "alpaca") == []
    else:
        assert versions.commit(Late(store), mine, None, lambda: None).version == "v2"
        assert versions.labels(store, "alpaca") == ["v2"]


def test_a_version_that_somebody_removed_at_once_was_made(store: ObstoreStore) -> None:
    class Quick(Scripted):
        """Somebody removes what we made before we look again; ETags as S3 gives them."""

        def create(self, key: str, data: bytes) -> str:  # type: ignore[override]
            super().create(key, data)
            remove(store, "v1")
            return hashlib.md5(data).hexdigest()

    assert versions.commit(Quick(store), record(), None, never).version == "v1"
    assert versions.labels(store, "alpaca") == []


def test_a_removed_label_is_refused_before_anything_is_written(store: ObstoreStore) -> None:
    commit(store, "alpaca", "cleaned")
    remove(store, "cleaned")
    counted = Scripted(store)
    with pytest.raises(VersionExists):
        versions.commit(counted, record(), "cleaned", never)
    assert "put" not in [kind for kind, _ in counted.asked]
