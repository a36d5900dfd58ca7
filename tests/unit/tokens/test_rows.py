"""The dirt list: what is refused, with its byte, and what must come through whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.tokens.rows import Malformed, parsed, records, text_of

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(row=st.dictionaries(texts, values, max_size=4), plain=st.booleans())
def test_K36_a_row_is_what_the_standard_library_reads(row: dict[str, object], plain: bool) -> None:
    assert parsed(json.dumps(row, ensure_ascii=plain).encode()) == row


@pytest.mark.parametrize(
    ("data", "reason", "offset"),
    [
        (b'{"text":"a"}{"text":"b"}', "follows the object", 12),  # K31
        (b'{"text":"a', "truncated", 8),  # K34
        (b'{"text":', "truncated", 8),
        (rb'{"text":"\ud83d"}', "surrogate", None),  # K35
        (rb'{"text":"\ude00"}', "surrogate", None),
        (b'{"text":"\xed\xa0\xbd"}', "not UTF-8", 9),
        (b'{"a":NaN}', "NaN", None),
        (b'{"a":-Infinity}', "Infinity", None),
        (b'{"a":1,"a":2}', "'a' is there twice", 1),
        (b'{"a" : 1, "a":2}', "'a' is there twice", 1),
        (b'{"x":{"b":1,"b":2}}', "'b' is there twice", 6),
        (b'{"a":"\x00"}', "NUL", 6),
        (b"[]", "an array", 0),  # K39
        (b'"str"', "a string", 0),
        (b"1", "a number", 0),
        (b"null", "null", 0),
        (b"true", "a boolean", 0),
        (b"{'a':1}", "not JSON", 1),
        (b'{"a":' * 3000 + b"1" + b"}" * 3000, "nested", None),
    ],
)
def test_K39_dirt_is_refused_with_its_byte(data: bytes, reason: str, offset: int | None) -> None:
    found = parsed(data)
    assert isinstance(found, Malformed)
    assert reason in found.reason
    assert offset is None or found.offset == offset


def test_K36_integers_above_64_bits_stay_integers() -> None:
    assert parsed(b'{"id":18446744073709551616}') == {"id": 18446744073709551616}


def test_escapes_that_are_text_come_through() -> None:
    data = '{"a":"\\ud83d\\ude00","b":"x\u2028y","c":"\\u0000","d":"\\":\\""}'
    assert parsed(data.encode()) == {"a": "😀", "b": "x\u2028y", "c": "\0", "d": '":"'}


def test_K39_lines_keep_their_numbers_and_bytes() -> None:
    found = list(records("jsonl", b'{"a":1}\r\n\n  \n{"a":"\xe2\x80\xa8"}\n'))
    assert [(record.line, record.offset) for record in found] == [(0, 0), (3, 13)]
    assert found[0].data == b'{"a":1}'


def test_K32_values_of_an_array_keep_their_lines() -> None:
    found = list(records("json", b'{"a":\n1},\n{"a":2},\n'))
    assert [(record.line, record.offset) for record in found] == [(0, 0), (2, 10)]


def test_K26_a_line_of_50_MB() -> None:
    data = json.dumps({"text": "a" * 50_000_000}).encode()
    row = parsed(data)
    assert isinstance(row, dict)
    assert len(str(row["text"])) == 50_000_000


def test_text_must_be_utf8() -> None:
    assert text_of(b"gr\xc3\xbc\xc3\x9f") == "grüß"
    assert text_of(b"gr\xfc") == Malformed("not UTF-8: byte 0xfc", 2)
