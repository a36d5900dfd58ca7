"""Inputs made of good ones: bits, spans, numbers and JSON values that are not what they were."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

NUMBERS = (b"0", b"-1", b"1e999", b"NaN", b"4294967296", b"18446744073709551616", b"9" * 60)
WORDS = (b"..", b"/", b"../x", b"\0", b"{", b"}", b"[", b'"', b"\n", b"\xff\xfe", b"null", b"s3://")
VALUES: tuple[Any, ...] = (None, True, -1, 2**64, 1e308, "", "../x", "\0", [], {}, [[]], "v1@v2")
MOST = 200_000  # bytes of an input

Mutation = Callable[[random.Random, bytes], bytes]


def mutated(dice: random.Random, seeds: list[bytes]) -> bytes:
    """One to four changes of a seed; now and then noise alone."""
    if dice.random() < 0.02:
        return dice.randbytes(dice.randrange(64))
    data = dice.choice(seeds)
    for _ in range(dice.randint(1, 4)):
        data = dice.choice(_MUTATIONS)(dice, data)
    if dice.random() < 0.05:
        data = _spliced(dice, data, dice.choice(seeds))
    return data[:MOST]


def _flipped(dice: random.Random, data: bytes) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    changed[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def _cut(dice: random.Random, data: bytes) -> bytes:
    start, end = _span(dice, data)
    return data[:start] + data[end:]


def _ended(dice: random.Random, data: bytes) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def _repeated(dice: random.Random, data: bytes) -> bytes:
    start, end = _span(dice, data)
    return data[:end] + data[start:end] * dice.choice((1, 2, 50)) + data[end:]


def _inserted(dice: random.Random, data: bytes) -> bytes:
    at = dice.randrange(len(data) + 1)
    word = dice.choice(WORDS) if dice.random() < 0.7 else dice.randbytes(dice.randrange(1, 9))
    return data[:at] + word + data[at:]


def _numbered(dice: random.Random, data: bytes) -> bytes:
    """Another number where one was, among the first hundred."""
    found = list(re.finditer(rb"\d+", data[:4000]))[:100]
    if not found:
        return _inserted(dice, data)
    start, end = dice.choice(found).span()
    return data[:start] + dice.choice(NUMBERS) + data[end:]


def _restructured(dice: random.Random, data: bytes) -> bytes:
    """Another value somewhere in the JSON of the first line, or of the whole."""
    line, newline, rest = data.partition(b"\n")
    for text, tail in ((data, b""), (line, newline + rest)):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            continue
        return json.dumps(_changed(dice, document)).encode() + tail
    return _flipped(dice, data)


def _changed(dice: random.Random, value: Any) -> Any:
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(list(value))
        match dice.randrange(6):
            case 0:
                return {name: held for name, held in value.items() if name != key}
            case 1:
                return {**value, dice.choice(("format", "extra", "")): dice.choice(VALUES)}
        return {**value, key: _changed(dice, value[key])}
    if isinstance(value, list) and value and dice.random() < 0.9:
        at = dice.randrange(len(value))
        return [*value[:at], _changed(dice, value[at]), *value[at + 1 :]]
    return dice.choice(VALUES)


def _nested(dice: random.Random, data: bytes) -> bytes:
    depth = dice.choice((50, 5000))
    return b"[" * depth + data + b"]" * depth if dice.random() < 0.1 else _numbered(dice, data)


def _spliced(dice: random.Random, one: bytes, other: bytes) -> bytes:
    return one[: dice.randrange(len(one) + 1)] + other[dice.randrange(len(other) + 1) :]


def _span(dice: random.Random, data: bytes) -> tuple[int, int]:
    start = dice.randrange(len(data) + 1)
    return start, min(len(data), start + dice.choice((1, 2, 8, 64, 1000)))


_MUTATIONS: tuple[Mutation, ...] = (
    *(_flipped, _cut, _ended, _repeated, _inserted),
    *(_numbered, _numbered, _restructured, _restructured, _nested),
)
