"""Where the values of an array lie."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.tokens import values
from stager.tokens.values import MalformedArray, elements

trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)


@pytest.fixture(params=[1, 2, 3, 7, 1 << 20], autouse=True)
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "BLOCK", request.param)


def found(data: bytes, part: bool = False) -> list[bytes]:
    return [data[start:end] for start, end in elements(io.BytesIO(data), part)]


@given(rows=st.lists(trees, max_size=6), indent=st.sampled_from([None, 1]), brackets=st.booleans())
def test_K32_every_value_is_found_whole(
    rows: list[object], indent: int | None, brackets: bool
) -> None:
    text = json.dumps(rows, indent=indent)
    if not brackets:
        text = text.strip()[1:-1]
    assert [json.loads(value) for value in found(text.encode(), part=not brackets)] == rows


@pytest.mark.parametrize(
    ("data", "reason", "offset"),
    [
        (b'[{"a":1}', "not closed", 8),
        (b'[{"a":1', "not closed", 7),
        (b'[{"a":"x', "not closed", 8),
        (b'[{"a":1}] {}', "follows", 10),
        (b'[{"a":1}{"a":2}]', "comma is missing", 8),
        (b"[1,,2]", "comma without", 3),
        (b"[1}]", "} too many", 2),
        (b"1, 2]", "] too many", 4),
    ],
)
def test_what_is_no_array_is_said_with_its_byte(data: bytes, reason: str, offset: int) -> None:
    with pytest.raises(MalformedArray, match=reason) as caught:
        found(data)
    assert caught.value.offset == offset
