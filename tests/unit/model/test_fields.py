"""model/fields.py: keys of records, and the fields in which two of them differ."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.model.fields import WHOLE, differing, key_of

leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
documents = st.dictionaries(st.text(max_size=3), values, max_size=4)


def line(document: object) -> bytes:
    """A record."""
    return json.dumps(document).encode() + b"\n"


@pytest.mark.parametrize(
    ("record", "field", "key"),
    [
        (b'{"id": 1}\n', "id", "1"),
        (b'{"id": "1"}', "id", '"1"'),
        (b'{"id": 0}', "id", "0"),
        (b'{"id": ""}', "id", '""'),
        (b'{"meta": {"id": "x"}}', "meta.id", '"x"'),
        (b'{"meta.id": 2, "meta": {"id": 3}}', "meta.id", "2"),
        (b'{"id": [1, {"b": 2, "a": 1}]}', "id", '[1,{"a":1,"b":2}]'),
        (b'{"id": null}', "id", None),
        (b'{"x": 1}', "id", None),
        (b'{"meta": [1]}', "meta.id", None),
        (b"[1]", "id", None),
        (b"\n", "id", None),
        (b"not json", "id", None),
        (b"\xff\xfe", "id", None),
        (b'{"id":' * 100_000, "id", None),
        (b'{"id":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "id", None),
        (b'{"id":' + b"9" * 5000 + b"}", "id", None),
    ],
)
def test_keys(record: bytes, field: str, key: str | None) -> None:
    assert key_of(record, field) == key


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, ()),
        ({"a": 1}, {"a": 1.0}, ("a",)),
        ({"a": 1}, {"a": True}, ("a",)),
        ({"a": None}, {}, ("a",)),
        ({"a": {}}, {"a": []}, ("a",)),
        ({"a": {}}, {}, ("a",)),
        ({"m": {"x": 1, "y": 2}}, {"m": {"x": 1, "y": 3}, "t": 0}, ("m.y", "t")),
        ({"l": [1, 2]}, {"l": [2, 1]}, ("l",)),
        ({"a.b": 1, "a": {"b": 2}}, {"a.b": 3, "a": {"b": 2}}, ("a.b",)),
        ({"a": {"b": 1}}, {"a.b": 1}, ("a.b",)),
    ],
)
def test_fields_that_differ(before: object, after: object, names: tuple[str, ...]) -> None:
    assert differing(line(before), line(after)) == names


@given(documents)
def test_a_record_does_not_differ_from_itself_however_it_is_written(
    document: dict[str, object],
) -> None:
    written = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
    assert differing(line(document), written.encode("utf-8", "surrogatepass")) == ()


@given(documents, documents)
def test_two_records_differ_alike_both_ways(
    before: dict[str, object], after: dict[str, object]
) -> None:
    assert differing(line(before), line(after)) == differing(line(after), line(before))


def test_a_record_that_is_no_object_differs_as_a_whole() -> None:
    assert WHOLE in differing(b"text", b'{"a": 1}')
    assert differing(b"[1]", b"[2]") == (WHOLE,)


def test_a_field_that_stands_twice_is_not_passed_over() -> None:
    assert differing(b'{"a": 1, "a": 2}', b'{"a": 3, "a": 2}') == (WHOLE,)


def test_a_record_nested_too_deep_differs_as_a_whole() -> None:
    deep = b'{"a":' + b"[" * 900 + b"]" * 900 + b"}"
    assert differing(deep, b"[" * 100_000) != ()
