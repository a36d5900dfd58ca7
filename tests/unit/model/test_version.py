"""model/version.py: the record that makes a version exist."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.errors import ManifestInvalid
from stager.model.version import MAX_PLACEMENT_RAW, PlacementKey, VersionRecord, decode
from tests.unit.examples import digests, record

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
counts = st.integers(0, 2**63 - 1)
sizes = st.integers(1, MAX_PLACEMENT_RAW)
records = st.builds(
    VersionRecord,
    name=texts,
    version=texts,
    tree=digests.map(str),
    placement=st.builds(
        PlacementKey, digests.map(lambda one: f"placements/{one.hex}"), sizes, sizes
    ),
    parent=st.none() | texts,
    time=texts,
    author=texts,
    message=texts,
    files=counts,
    bytes_raw=counts,
    bytes_new=counts,
    provenance=st.dictionaries(texts, texts, max_size=3),
    format=st.just(1),
)


@given(records)
def test_there_and_back(value: VersionRecord) -> None:
    assert decode(value.encode(), "here") == value
    assert decode(value.encode(), "here").encode() == value.encode()


def test_a_record_is_json_with_sorted_keys() -> None:
    document = json.loads(record().encode())
    assert list(document) == sorted(document)
    assert document["format"] == 1


def test_T33_a_record_of_etags_is_not_hashed() -> None:
    assert record().is_hashed
    assert not record(tree=f"etag:{'0' * 64}").is_hashed


@given(st.binary(max_size=60))
def test_random_bytes_are_refused_in_one_way(data: bytes) -> None:
    with pytest.raises(ManifestInvalid):
        decode(data, "here")


@given(st.integers(0), st.integers(0, 255))
def test_a_damaged_record_is_refused_or_still_one(at: int, byte: int) -> None:
    data = bytearray(record().encode())
    data[at % len(data)] = byte
    with contextlib.suppress(ManifestInvalid):
        assert isinstance(decode(bytes(data), "here"), VersionRecord)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.sampled_from(sorted(json.loads(record().encode()))), json_values)
def test_a_hostile_value_is_refused_or_of_the_right_kind(name: str, value: Any) -> None:
    document = json.loads(record().encode()) | {name: value}
    try:
        found = decode(json.dumps(document).encode(), "here")
    except ManifestInvalid:
        return
    again = decode(found.encode(), "here")  # what was accepted can be written and read
    assert again == found
    assert found.parent is None or isinstance(found.parent, str)
    assert all(isinstance(text, str) for text in found.provenance.values())


@pytest.mark.parametrize(
    "changes",
    [
        {"format": 2},
        {"format": "1"},
        {"tree": "blake3:00"},
        {"tree": f"md5:{'0' * 64}"},
        {"tree": 7},
        {"files": -1},
        {"files": 1.5},
        {"bytes_raw": "10"},
        {"name": None},
        {"message": ["x"]},
        {"provenance": []},
        {"parent": 3},
        {"more": 1},
        {"placement": None},
        {"placement": {"key": "placements/aa", "stored": 1}},
        {"placement": {"key": "placements/../stager.json", "stored": 1, "raw": 1}},
        {"placement": {"key": "/etc/passwd", "stored": 1, "raw": 1}},
        {"placement": {"key": "file:///etc/passwd", "stored": 1, "raw": 1}},
        {"placement": {"key": "placements/aa", "stored": 1, "raw": 2**40}},
        {"placement": {"key": "placements/aa", "stored": 0, "raw": 1}},
        {"placement": {"key": "placements/aa", "stored": "1", "raw": 1}},
    ],
    ids=str,
)
def test_T26_a_record_that_breaks_a_rule_is_refused(changes: dict[str, Any]) -> None:
    document = json.loads(record().encode()) | changes
    with pytest.raises(ManifestInvalid) as caught:
        decode(json.dumps(document).encode(), "here")
    assert "not a valid version record" in str(caught.value)


def test_a_text_that_cannot_be_printed_is_refused() -> None:
    """A lone surrogate in a message would stop `stager log` for everybody."""
    data = record(message="MARK").encode().replace(b"MARK", b"\\ud800")
    with pytest.raises(ManifestInvalid):
        decode(data, "here")


@pytest.mark.parametrize(
    "data",
    [b"[" * 100_000, b"[]", b"1", b"null", b'"x"', b"{}", b"\xff"],
    ids=lambda data: repr(data[:9]),
)
def test_documents_of_another_shape(data: bytes) -> None:
    with pytest.raises(ManifestInvalid):
        decode(data, "here")
