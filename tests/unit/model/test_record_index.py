"""model/record_index.py: units of a pack's frames, there and back; hostile until checked."""

from __future__ import annotations

from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.errors import ManifestInvalid
from stager.model import columns, record_index
from stager.model.records import Units

hashes = st.integers(0, 2**64 - 1)
lengths = st.integers(0, 2**32 - 1)
units = st.lists(st.tuples(hashes, lengths), max_size=6).map(
    lambda pairs: Units(
        array("Q", [each for each, _ in pairs]), array("I", [each for _, each in pairs])
    )
)
indexes = st.lists(st.tuples(hashes, units), max_size=5)


def table(**changes: Any) -> dict[str, tuple[str, Any]]:
    """Columns of two frames with one and two units, but for the changes."""
    values: dict[str, Any] = {
        "frame_offset": [0, 100],
        "frame_units": [1, 2],
        "unit_hash": [7, 8, 9],
        "unit_length": [10, 20, 30],
    }
    types = record_index.TYPES
    return {name: (types[name], value) for name, value in (values | changes).items()}


def decoded(given_columns: dict[str, tuple[str, Any]]) -> list[tuple[int, Units]]:
    """What an index of these columns says."""
    return list(record_index.decode(columns.encode(record_index.KIND, given_columns), "here"))


@given(indexes)
def test_there_and_back(frames: list[tuple[int, Units]]) -> None:
    data = record_index.encode(frames)
    assert list(record_index.decode(data, "here")) == frames
    assert record_index.encode(record_index.decode(data, "here")) == data


def test_the_example_is_in_order() -> None:
    assert decoded(table()) == [
        (0, Units(array("Q", [7]), array("I", [10]))),
        (100, Units(array("Q", [8, 9]), array("I", [20, 30]))),
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"frame_offset": [0]},
        {"frame_offset": []},
        {"frame_units": [1, 2, 0]},
        {"frame_units": [1, 1]},
        {"frame_units": [1, 3]},
        {"frame_units": [2**32 - 1, 2**32 - 1]},
        {"unit_hash": [7, 8]},
        {"unit_hash": []},
        {"unit_length": [10, 20, 30, 40]},
        {"frame_offset": [], "frame_units": []},
    ],
    ids=str,
)
def test_columns_that_do_not_agree_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ManifestInvalid, match="here"):
        decoded(table(**changes))


@pytest.mark.parametrize("name", list(record_index.TYPES))
def test_a_missing_column_is_refused(name: str) -> None:
    with pytest.raises(ManifestInvalid):
        decoded({key: value for key, value in table().items() if key != name})


def test_another_kind_of_columns_is_refused() -> None:
    with pytest.raises(ManifestInvalid, match="placement"):
        list(record_index.decode(columns.encode("placement", table()), "here"))


@given(indexes, st.integers(0), st.integers(0, 255))
def test_a_changed_byte_is_refused_or_holds_together(
    frames: list[tuple[int, Units]], at: int, byte: int
) -> None:
    data = bytearray(record_index.encode(frames))
    data[at % len(data)] = byte
    try:
        found = list(record_index.decode(bytes(data), "here"))
    except ManifestInvalid:
        return
    assert all(len(units.hashes) == len(units.lengths) for _, units in found)


@given(st.binary(max_size=60))
def test_random_bytes_are_refused_in_one_way(data: bytes) -> None:
    with pytest.raises(ManifestInvalid):
        list(record_index.decode(data, "here"))
