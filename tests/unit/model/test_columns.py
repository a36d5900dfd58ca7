"""model/columns.py: typed columns as bytes."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.errors import ManifestInvalid
from stager.model import columns

KIND = "test"
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
column = st.one_of(
    st.tuples(st.just("u8"), st.lists(st.integers(0, 2**8 - 1), max_size=9)),
    st.tuples(st.just("u32"), st.lists(st.integers(0, 2**32 - 1), max_size=9)),
    st.tuples(st.just("u64"), st.lists(st.integers(0, 2**64 - 1), max_size=9)),
    st.tuples(st.just("str"), st.lists(texts, max_size=9)),
    st.tuples(st.just("b32"), st.binary(min_size=32, max_size=32)),
)
tables = st.dictionaries(st.text(st.characters(categories=["L"]), max_size=5), column, max_size=4)


def container(header: Any, body: bytes = b"") -> bytes:
    """Bytes whose header says this."""
    return json.dumps(header).encode() + b"\n" + body


def header(*table: Any, **changes: Any) -> dict[str, Any]:
    """A header in order, but for the changes."""
    return {"kind": KIND, "format": 1, "columns": list(table), **changes}


@given(tables)
def test_there_and_back(table: dict[str, Any]) -> None:
    data = columns.encode(KIND, table)
    found = columns.decode(KIND, data, "here")
    assert list(found) == list(table)
    for name, (_, values) in table.items():
        stored = found[name]
        assert (stored if isinstance(stored, bytes) else list(stored)) == values
    again = {name: (table[name][0], found[name]) for name in table}
    assert columns.encode(KIND, again) == data


@given(tables, st.integers(0), st.integers(0, 255))
def test_a_flipped_byte_is_refused_or_decodes(table: dict[str, Any], at: int, byte: int) -> None:
    data = bytearray(columns.encode(KIND, table))
    data[at % len(data)] = byte
    with contextlib.suppress(ManifestInvalid):
        columns.decode(KIND, bytes(data), "here")


@given(tables, st.integers(0))
def test_T44_what_is_cut_short_is_refused(table: dict[str, Any], at: int) -> None:
    data = columns.encode(KIND, table)
    with pytest.raises(ManifestInvalid):
        columns.decode(KIND, data[: at % len(data)], "here")


@given(st.binary(max_size=100))
def test_random_bytes_are_refused_in_one_way(data: bytes) -> None:
    with pytest.raises(ManifestInvalid):
        columns.decode(KIND, data, "here")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"null\n",
        b"[]\n",
        b"[" * 60_000 + b"\n",
        b"{}" + b" " * columns.MAX_HEADER_BYTES + b"\n",
        container(header(kind="other")),
        container(header(format=2)),
        container(header(format=None)),
        container({"kind": KIND, "format": 1}),
        container(header(columns=7)),
        container(header(["a", "u8", 1])),
        container(header(["a", "u8", 1, 1])),
        container(header(["a", "u8", 1, 1]), b"xy"),
        container(header(["a", "u8", 2**70, 2**70]), b"x"),
        container(header(["a", "u8", -1, -1]), b"x"),
        container(header(["a", "u8", 1, -1]), b"x"),
        container(header(["a", "u8", "1", "1"]), b"x"),
        container(header(["a", "u16", 1, 2]), b"xy"),
        container(header(["a", ["u8"], 1, 1]), b"x"),
        container(header(["a", "u32", 2, 4]), b"abcd"),
        container(header(["a", "b32", 1, 31]), b"x" * 31),
        container(header(["a", "str", 1, 3]), b"abc"),
        container(header(["a", "str", 2, 4]), b"abc\0"),
        container(header(["a", "str", 1, 2]), b"\xff\0"),
        container(header(["a", "str", 0, 0], ["a", "u8", 0, 0])),
    ],
    ids=lambda data: repr(data[:90]),
)
def test_a_container_that_lies_is_refused(data: bytes) -> None:
    with pytest.raises(ManifestInvalid):
        columns.decode(KIND, data, "here")


def test_the_format_does_not_drift() -> None:
    data = columns.encode(KIND, {"n": ("u32", [1, 258]), "s": ("str", ["a", ""])})
    assert data == (
        b'{"columns":[["n","u32",2,8],["s","str",2,3]],"format":1,"kind":"test"}\n'
        b"\x01\0\0\0\x02\x01\0\0a\0\0"
    )
