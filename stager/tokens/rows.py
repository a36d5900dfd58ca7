"""Records to values: strict where parsers differ.

orjson reads; where it is lenient or lossy (duplicate keys, integers above 64 bits become
floats) the standard library decides. What a record is: a JSON object; a line of text.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

import orjson

from stager.tokens.values import elements

LONG_NUMBER = re.compile(rb"[0-9]{19}")
SPACED_COLON = re.compile(rb'"\s+:')
BLANK = b" \t\r"


class Malformed(NamedTuple):
    """A record that cannot be used: why, and at which of its bytes."""

    reason: str
    offset: int = 0


class Record(NamedTuple):
    """A record's bytes and where they lie in the segment: line (from 0) and byte."""

    data: bytes
    line: int
    offset: int


def records(kind: str, data: bytes) -> Iterator[Record]:
    """The records of a segment's bytes: lines that are not blank, or values of an array.

    MalformedArray where an array is broken between its values.
    """
    if kind == "json":
        yield from _values(data)
        return
    offset = 0
    for line, text in enumerate(data.split(b"\n")):
        if text and not text.isspace():
            yield Record(text[:-1] if text[-1:] == b"\r" else text, line, offset)
        offset += len(text) + 1


def _values(data: bytes) -> Iterator[Record]:
    line = counted = 0
    for start, end in elements(io.BytesIO(data), part=True):
        line += data.count(b"\n", counted, start)
        counted = start
        yield Record(data[start:end], line, start)


def parsed(data: bytes) -> dict[str, object] | Malformed:
    """A JSON object, exact: no key twice, no number that is not one, no lone surrogate."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        return _malformed(data, problem)
    if not isinstance(value, dict):
        return Malformed(f"a row must be an object {{...}}, this is {_named(value)}")
    if data.count(b'":') != _keys(value) or SPACED_COLON.search(data) or LONG_NUMBER.search(data):
        return _exact(data)
    return value


def text_of(data: bytes) -> str | Malformed:
    """A line of text; Malformed where it is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        return Malformed(f"not UTF-8: byte 0x{data[problem.start]:02x}", problem.start)


def _keys(value: object) -> int:
    if isinstance(value, dict):
        return len(value) + sum(_keys(each) for each in value.values() if type(each) is not str)
    if isinstance(value, list):
        return sum(_keys(each) for each in value if type(each) is not str)
    return 0


class _Repeated(ValueError):
    """A key that is there twice."""


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _Repeated(next(key for key in keys if keys.count(key) > 1))
    return found


def _exact(data: bytes) -> dict[str, object] | Malformed:
    try:
        value: dict[str, object] = json.loads(data, object_pairs_hook=_once)
    except _Repeated as problem:
        key = str(problem)
        first = data.find(orjson.dumps(key))
        return Malformed(f"the key {key!r} is there twice", max(0, first))
    except (ValueError, RecursionError) as problem:
        return Malformed(str(problem))
    return value


def _malformed(data: bytes, problem: orjson.JSONDecodeError) -> Malformed:
    if b"\0" in data:
        return Malformed("a NUL byte", data.index(b"\0"))
    text = text_of(data)
    if isinstance(text, Malformed):
        return text
    offset = len(text[: problem.pos].encode())
    try:
        json.loads(text)
    except RecursionError:
        return Malformed("nested too deeply")
    except json.JSONDecodeError as reason:
        offset = len(text[: reason.pos].encode())
        if reason.msg == "Extra data":
            return Malformed("something follows the object on its line", offset)
        if not text[reason.pos :].strip() or reason.msg.startswith("Unterminated"):
            return Malformed("the row ends in the middle: truncated?", offset)
        return Malformed(f"not JSON: {reason.msg}", offset)
    except ValueError as reason:
        return Malformed(str(reason), offset)
    return Malformed(_lenient(data), offset)


def _lenient(data: bytes) -> str:
    """Why orjson refuses what the standard library takes."""
    for word in (b"NaN", b"Infinity"):
        if word in data:
            return f"{word.decode()} is not JSON"
    if re.search(rb"\\u[dD][89a-fA-F]", data):
        return "half of a surrogate pair: \\ud8xx without its \\udcxx"
    return "nested too deeply, or not JSON"


def _named(value: object) -> str:
    if value is None:
        return "null"
    return {str: "a string", bool: "a boolean", list: "an array"}.get(type(value), "a number")
