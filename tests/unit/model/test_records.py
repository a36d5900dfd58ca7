"""model/records.py: where a stream is cut, and that an insertion stays local."""

from __future__ import annotations

import random
from functools import cache

import pytest

from stager.model.records import MAX_FRAME, MIN_FRAME, ends_frame, next_cut

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
