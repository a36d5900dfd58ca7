"""model/record_table.py: what is found is there, in order, and as long as it can be."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stager.model.record_table import Chunk, RecordTable, Span
from stager.model.records import Units

Unit = tuple[int, int]  # hash, length

kinds = st.integers(0, 4).map(lambda kind: (2**63 + kind, 1 + kind % 3))
few = st.lists(kinds, min_size=1, max_size=12)


def units_of(items: Iterable[Unit]) -> Units:
    """Hashes and lengths of some units."""
    found = list(items)
    return Units(array("Q", [one for one, _ in found]), array("I", [size for _, size in found]))


class Base(NamedTuple):
    """Chunks of units, with a gap of so many bytes before each."""

    chunks: list[tuple[int, list[Unit]]]

    def given(self) -> list[Chunk]:
        """The chunks with their addresses."""
        found, address = [], 0
        for gap, items in self.chunks:
            found.append(Chunk(address + gap, units_of(items)))
            address += gap + sum(size for _, size in items)
        return found

    def at(self) -> dict[int, Unit]:
        """The unit at each address."""
        found = {}
        for (start, _), (_, items) in zip(self.given(), self.chunks, strict=True):
            starts = accumulate((size for _, size in items), initial=start)
            found.update(zip(starts, items, strict=False))
        return found


bases = st.lists(st.tuples(st.sampled_from([0, 0, 5]), few), max_size=6).map(Base)


def expected_runs(spans: Iterable[Span], wanted: list[Unit], there: dict[int, Unit]) -> set[int]:
    """Checks every span against the base; the wanted units that are covered, by index."""
    begins = list(accumulate((size for _, size in wanted), initial=0))
    covered: set[int] = set()
    done = 0
    for position, address, length in spans:
        assert position >= done and length > 0
        done = position + length
        at = begins.index(position)
        while position < done:
            assert there[address] == wanted[at], "other bytes than were looked up"
            covered.add(at)
            position, address, at = position + wanted[at][1], address + wanted[at][1], at + 1
        assert position == done, "a span ends within a unit"
    return covered


@given(bases, few)
def test_everything_that_is_there_is_found_and_nothing_else(base: Base, wanted: list[Unit]) -> None:
    there = base.at()
    table = RecordTable(iter(base.given()))
    assert table.is_empty == (not there)
    covered = expected_runs(table.match(units_of(wanted)), wanted, there)
    assert covered == {at for at, unit in enumerate(wanted) if unit in set(there.values())}


@given(bases, few)
def test_a_span_goes_on_while_the_base_does(base: Base, wanted: list[Unit]) -> None:
    there = base.at()
    begins = list(accumulate((size for _, size in wanted), initial=0))
    for position, address, length in RecordTable(iter(base.given())).match(units_of(wanted)):
        after, follows = position + length, there.get(address + length)
        if follows is not None and after < begins[-1]:
            assert follows != wanted[begins.index(after)]


@given(bases, few, st.integers(1, 6))
def test_what_stands_in_a_row_in_both_is_one_span_however_often_it_is_cut(
    base: Base, wanted: list[Unit], cut: int
) -> None:
    """Looked up in portions, spans that continue the last one say so by their address."""
    there = base.at()
    whole = list(RecordTable(iter(base.given())).match(units_of(wanted)))
    table, found, position = RecordTable(iter(base.given())), list[Span](), 0
    for at in range(0, len(wanted), cut):
        portion = wanted[at : at + cut]
        for span in table.match(units_of(portion)):
            moved = span._replace(position=span.position + position)
            last = found[-1] if found else None
            after = (last.position + last.length, last.address + last.length) if last else None
            if last and after == moved[:2]:
                found[-1] = last._replace(length=last.length + moved.length)
            else:
                found.append(moved)
        position += sum(size for _, size in portion)
    assert found == whole
    assert expected_runs(found, wanted, there) == expected_runs(whole, wanted, there)


def test_of_equal_records_the_one_that_follows_is_taken() -> None:
    blank, one, two = (1, 1), (2, 10), (3, 20)
    items = [blank, one, blank, two, blank, blank, blank]
    table = RecordTable(iter([Chunk(100, units_of(items))]))
    assert list(table.match(units_of(items))) == [Span(0, 100, 35)]
    assert list(table.match(units_of([two, blank, blank]))) == [Span(0, 112, 22)]
    assert list(table.match(units_of([blank]))) == [Span(0, 134, 1)]  # goes on from there
    assert list(table.match(units_of([blank]))) == [Span(0, 100, 1)]  # nothing follows: the first


def test_equal_hashes_of_other_lengths_are_other_records() -> None:
    table = RecordTable(iter([Chunk(0, units_of([(7, 10), (8, 5)]))]))
    assert list(table.match(units_of([(7, 11), (8, 5)]))) == [Span(11, 10, 5)]


def test_what_follows_with_an_equal_hash_but_another_length_is_not_taken() -> None:
    items = [(1, 1), (7, 10), (1, 1), (2, 2), (7, 11)]
    table = RecordTable(iter([Chunk(0, units_of(items))]))
    assert list(table.match(units_of([(2, 2), (7, 10)]))) == [Span(0, 12, 2), Span(2, 1, 10)]


def test_what_does_not_touch_in_the_base_is_not_one_span() -> None:
    items = [(1, 10), (2, 10)]
    chunks = [Chunk(0, units_of(items[:1])), Chunk(11, units_of(items[1:]))]
    assert list(RecordTable(iter(chunks)).match(units_of(items))) == [
        Span(0, 0, 10),
        Span(10, 11, 10),
    ]
    chunks = [Chunk(0, units_of(items[:1])), Chunk(10, units_of(items[1:]))]
    assert list(RecordTable(iter(chunks)).match(units_of(items))) == [Span(0, 0, 20)]


def test_addresses_beyond_four_gigabytes_are_exact() -> None:
    far, most = 5 * 2**40, 2**32 - 1
    table = RecordTable(iter([Chunk(far, units_of([(7, most), (8, most), (9, 3)]))]))
    wanted = units_of([(5, most), (6, most), (8, most), (9, 3)])
    assert list(table.match(wanted)) == [Span(2 * most, far + most, most + 3)]


def test_nothing_finds_nothing() -> None:
    table = RecordTable(iter([]))
    assert table.is_empty
    assert list(table.match(units_of([(1, 1)]))) == []
    table.reach(10**12)
    table = RecordTable(iter([Chunk(0, units_of([(1, 1)]))]))
    assert list(table.match(units_of([]))) == []
    assert list(table.match(units_of([(2, 1)]))) == []


@given(bases, st.lists(few, max_size=5), st.integers(1, 5))
@example(Base([(0, [(1, 1)]), (0, [(2, 1)])]), [[(2, 1)]], 1)
def test_through_a_window_only_what_is_right_is_found(
    base: Base, portions: list[list[Unit]], window: int
) -> None:
    there = base.at()
    table = RecordTable(iter(base.given()), window)
    for portion in portions:
        expected_runs(table.match(units_of(portion)), portion, there)


@given(st.integers(1, 40), st.integers(1, 7), st.integers(1, 10), st.integers(4, 20))
def test_what_kept_its_order_is_found_through_a_window(
    count: int, chunk: int, portion: int, window: int
) -> None:
    """Portions as large as the window's free part, in the order of the base."""
    items = [(2**40 + at, 1 + at % 5) for at in range(count)]
    pieces = [items[at : at + chunk] for at in range(0, count, chunk)]
    base = Base([(0, piece) for piece in pieces])
    table = RecordTable(iter(base.given()), window + chunk)
    size = min(portion, window // 4)
    for at in range(0, count, size):
        wanted = items[at : at + size]
        assert expected_runs(table.match(units_of(wanted)), wanted, base.at()) == set(
            range(len(wanted))
        )


@pytest.mark.parametrize("window", [1, 2, 3, 100])
@pytest.mark.parametrize("width", [1, 2, 5])
def test_reach_brings_an_address_into_sight(window: int, width: int) -> None:
    items = [(2**40 + at, 10) for at in range(60)]
    chunks = [
        Chunk(10 * at, units_of(items[at : at + width])) for at in range(0, len(items), width)
    ]
    table = RecordTable(iter(chunks), window)
    for at in (0, 17, 44, 59):
        table.reach(10 * at)
        assert list(table.match(units_of(items[at : at + 1]))) == [Span(0, 10 * at, 10)]


def test_no_more_is_read_than_the_window_holds() -> None:
    asked: list[int] = []

    def chunks() -> Iterator[Chunk]:
        for at in range(100):
            asked.append(at)
            yield Chunk(10 * at, units_of([(at, 10)]))

    table = RecordTable(chunks(), 8)
    assert len(asked) == 8
    table.reach(100)
    assert len(asked) <= 12
    spans = [span for at in range(10, 40) for span in table.match(units_of([(at, 10)]))]
    assert [span.address for span in spans] == [10 * at for at in range(10, 40)]
    assert all(one.address < two.address for one, two in pairwise(spans))
    assert len(asked) < 60
