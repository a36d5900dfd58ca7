"""model/layout.py: keys, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.model import layout
from stager.model.digest import Digest, digest_of
from tests.unit.model.test_names import labels, segments

names = st.lists(segments, min_size=1, max_size=4).map("/".join)


@given(names, labels)
def test_a_version_key_parses(name: str, label: str) -> None:
    key = layout.version_key(name, label)
    assert layout.parse_version_key(key) == (name, label)
    assert layout.parse_tag_key(key) is None
    assert key.startswith(layout.versions_prefix(name))


@given(names, labels, st.integers(1, 10**12))
def test_a_tag_key_parses(name: str, tag: str, sequence: int) -> None:
    key = layout.tag_key(name, tag, sequence)
    assert layout.parse_tag_key(key) == (name, tag, sequence)
    assert layout.parse_version_key(key) is None
    assert key.startswith(layout.tags_prefix(name, tag))
    assert key.startswith(layout.tags_prefix(name))


@given(st.integers(1, 10**10 - 2))
def test_later_movements_of_a_tag_list_later(sequence: int) -> None:
    assert layout.tag_key("a", "t", sequence) < layout.tag_key("a", "t", sequence + 1)


def test_T28_no_prefix_of_one_dataset_reaches_another() -> None:
    for prefix in (layout.versions_prefix("c4"), layout.tags_prefix("c4")):
        assert not layout.version_key("c4-en", "v1").startswith(prefix)
        assert not layout.version_key("c4/en", "v1").startswith(prefix)
        assert not layout.tag_key("c4-en", "prod", 1).startswith(prefix)
    assert not layout.tag_key("c4", "prod-2", 1).startswith(layout.tags_prefix("c4", "prod"))


@pytest.mark.parametrize(
    "key",
    ["datasets/a/versions/", "datasets/a/versions/v1.json/x", "datasets//v1.json", "packs/aa/bb"],
)
def test_T17_keys_that_are_nothing_are_ignored(key: str) -> None:
    assert layout.parse_version_key(key) is None
    assert layout.parse_tag_key(key) is None


def test_content_is_addressed_by_its_digest() -> None:
    digest = digest_of(b"x")
    assert layout.pack_key(digest) == f"packs/{digest.hex[:2]}/{digest.hex}"
    assert layout.placement_key(digest) == f"placements/{digest.hex[:2]}/{digest.hex}"
    assert layout.plain_key("a/b", digest, "x/y") == f"plain/a/b/{digest.hex[:16]}/x/y"
    assert layout.verified_key("a", "v1") == "datasets/a/verified/v1.json"


@given(names, labels)
def test_a_record_key_says_which_record_it_is(name: str, label: str) -> None:
    keys = {
        "versions": layout.version_key(name, label),
        "verified": layout.verified_key(name, label),
        "removed": layout.removed_key(name, label),
        "buried": layout.buried_key(name, label),
    }
    for role, key in keys.items():
        assert layout.parse_record_key(key) == (role, name, label)
    assert len(set(keys.values())) == 4
    assert layout.parse_record_key(layout.tag_key(name, label, 1)) is None


@given(names, st.binary(min_size=1, max_size=9).map(digest_of), st.text("ab/.", min_size=1))
def test_what_stager_writes_is_content_of_its_kind(name: str, digest: Digest, path: str) -> None:
    pack = layout.pack_key(digest)
    keys = {
        "packs": pack,
        "indexes": layout.records_key(pack),
        "placements": layout.placement_key(digest),
        "plain": layout.plain_key(name, digest, path),
        "probes": f"{layout.PROBES}{digest.hex[:16]}",
    }
    assert keys.keys() == layout.CONTENT.keys() == layout.PREFIXES.keys()
    for kind, key in keys.items():
        assert key.startswith(layout.PREFIXES[kind])
        assert [other for other in keys if layout.is_content(other, key)] == [kind]


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("packs", "packs/README"),
        ("packs", f"packs/aa/{'b' * 64}"),
        ("packs", f"packs/aa/{'a' * 64}.bak"),
        ("packs", f"raw/packs/aa/{'a' * 64}"),
        ("plain", "plain/notes.txt"),
        ("plain", "plain/photos/2024/holiday.jpg"),
        ("plain", "plain/0123456789abcdef/x"),
        ("probes", "probes/mine"),
    ],
)
def test_T17_what_others_put_there_is_no_content(kind: str, key: str) -> None:
    assert not layout.is_content(kind, key)
