"""model/records.py: where a stream is cut, and that an insertion stays local."""

from __future__ import annotations

import random
from array import array
from functools import cache
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from stager.model import records
from stager.model.records import (
    MAX_FRAME,
    MAX_UNIT,
    MIN_FRAME,
    SAMPLE,
    WHOLE_UNIT,
    Units,
    ends_frame,
    holds_records,
    next_cut,
    units,
)

MiB = 1024 * 1024


@cache
def lines(count: int, longest: int = 30_000, seed: int = 7) -> bytes:
    """Lines of random length without newlines inside them."""
    chance = random.Random(seed)
    letters = chance.randbytes(2 * longest).replace(b"\n", b" ")
    starts = [(chance.randrange(longest), chance.randrange(longest)) for _ in range(count)]
    return b"".join(letters[at : at + length] + b"%d\n" % at for at, length in starts)


def cuts(data: bytes) -> list[int]:
    """Ends of all frames of `data`."""
    found, start = [], 0
    while start < len(data):
        start = next_cut(data, start, min(len(data), start + MAX_FRAME))
        found.append(start)
    return found


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        b"\n",
        b"x" * MAX_FRAME,
        b"x" * (MAX_FRAME + 1),
        b"x" * (3 * MAX_FRAME) + b"\n" + b"y" * 10,
        b"x" * (MIN_FRAME + 10) + b"\n" + b"y" * (2 * MAX_FRAME),
        b"x" * 100 + b"\n" + b"y" * (2 * MAX_FRAME),
        b"\n" * (MIN_FRAME + 10_000),
        lines(1200),
        lines(1200) + b"no newline at the end",
    ],
    ids=lambda data: f"{len(data)} bytes",
)
def test_cuts_cover_the_data_and_bound_every_frame(data: bytes) -> None:
    ends = cuts(data)
    assert ends == sorted(set(ends))
    assert (ends[-1] if ends else 0) == len(data)
    for start, end in zip([0, *ends], ends, strict=False):
        assert 0 < end - start <= MAX_FRAME


def test_a_frame_of_lines_ends_at_a_record_end_and_is_no_shorter_than_the_least() -> None:
    data = lines(1200)
    ends = cuts(data)
    assert len(ends) > 4
    for start, end in zip([0, *ends], ends[:-1], strict=False):
        assert data[end - 1 : end] == b"\n"
        assert end - start >= MIN_FRAME


def test_a_cut_depends_on_nothing_after_it() -> None:
    data = lines(1200)
    (first, *_) = cuts(data)
    assert next_cut(data[:first] + b"other\n" * MiB, 0, MAX_FRAME) == first


@pytest.mark.parametrize("where", [0.0, 0.3, 0.7])
def test_an_insertion_moves_only_the_cuts_near_it(where: float) -> None:
    data = lines(2400)
    at = data.rfind(b"\n", 0, int(len(data) * where) + 1) + 1
    inserted = b'{"new": "record"}\n'
    before = set(cuts(data))
    after = set(cuts(data[:at] + inserted + data[at:]))
    shifted = {cut + len(inserted) if cut > at else cut for cut in before}
    moved = shifted ^ after
    assert {cut for cut in moved if cut <= at} == set()
    assert all(cut - at < 16 * MiB for cut in moved)
    assert len(shifted & after) >= len(before) - 4


def test_the_coin_falls_in_proportion_to_the_length() -> None:
    chance = random.Random(3)
    coins = [chance.getrandbits(64) for _ in range(20_000)]
    hits = sum(ends_frame(coin, MiB // 4) for coin in coins)
    assert hits == pytest.approx(5000, rel=0.1)
    assert not ends_frame(2**64 - 1, 1)
    assert ends_frame(0, 1)


def joined(found: Units, data: bytes) -> list[bytes]:
    """The bytes of every unit; fails when they are not what their hashes say."""
    ends = list(accumulate(found.lengths, initial=0))
    assert ends[-1] == len(data)
    parts = [data[start:end] for start, end in pairwise(ends)]
    assert [xxh3_64_intdigest(part) for part in parts] == list(found.hashes)
    return parts


record_lists = st.lists(
    st.one_of(
        st.sampled_from([b"\n", b"\r\n", b"{}\n", b"same record, again and again\n"]),
        st.integers(0, 2000).map(lambda size: b"x" * size + b"\n"),
        st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"") + b"\n"),
    ),
    max_size=40,
)


@given(record_lists, st.binary(max_size=20))
def test_units_are_the_bytes_and_end_where_records_do(lines_: list[bytes], tail: bytes) -> None:
    tail = tail.replace(b"\n", b"")
    data = b"".join(lines_) + tail
    parts = joined(units(data), data)
    assert all(part.endswith(b"\n") for part in parts[:-1])
    assert all(part for part in parts)
    for part in parts[: -1 if tail else None]:
        longest = max(map(len, part.splitlines(keepends=True)), default=0)
        assert longest < WHOLE_UNIT or part.endswith(b"\n")
        inside = part.split(b"\n")[:-2]  # every record but the last
        assert all(len(record) + 1 < WHOLE_UNIT for record in inside)


@given(record_lists, record_lists, record_lists)
def test_units_after_a_change_are_cut_as_before(
    before: list[bytes], change: list[bytes], after: list[bytes]
) -> None:
    """From the first unit that ends within the records after the change."""
    kept = b"".join(after)
    one = units(b"".join(before) + kept)
    other = units(b"".join(before) + b"".join(change) + kept)

    def tails(found: Units) -> set[int]:
        """Ends of units in what was kept, counted from its end."""
        total = sum(found.lengths)
        ends = {total - end for end in accumulate(found.lengths)}
        return {end for end in ends if end < len(kept)}

    assert tails(one) == tails(other)


def test_a_unit_of_short_records_is_about_as_long_as_promised() -> None:
    data = b"".join(b"%d\n" % at for at in range(50_000))
    assert len(data) / len(units(data).lengths) == pytest.approx(WHOLE_UNIT, rel=0.25)


def test_a_unit_of_equal_records_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """One coin for all of them, and it never falls."""
    monkeypatch.setattr(records, "MAX_UNIT", 1000)
    found = units(b"same\n" * 2000)
    assert list(found.lengths) == [1000] * 10
    assert MAX_UNIT == 1024**2


def test_nothing_has_no_units() -> None:
    assert units(b"") == Units(array("Q"), array("I"))


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b"", True),
        (b'{"text": "' + b"x" * 100 + b'"}\n', True),
        (b"one endless line" * 10_000, True),
        (b"a\0b" + b"x" * 1000, False),
        (b"x" * SAMPLE + b"\0", True),  # only the beginning is looked at
        (b"\n", False),
        ((b"x" * 62 + b"\n") * 100, False),
        ((b"x" * 63 + b"\n") * 100, True),
    ],
    ids=range(8),
)
def test_what_looks_like_records(data: bytes, answer: bool) -> None:
    assert holds_records(data) is answer
