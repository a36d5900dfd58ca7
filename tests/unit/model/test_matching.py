"""model/matching.py: pairs of equal records, and which of them kept their order."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stager.model.matching import Matching, ascending_run, match

words = st.lists(st.integers(0, 5), max_size=9)
lists = st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 40), max_size=120)


def hashes(values: list[int]) -> Any:
    """Values as 128-bit hashes that are unequal where the values are."""
    return np.array([(value, value ^ 7) for value in values], dtype=np.uint64).reshape(-1, 2)


def matched(before: list[int], after: list[int]) -> Matching:
    """The matching of two lists of values."""
    return match(hashes(before), hashes(after))


def pairs(found: Matching) -> list[tuple[int, int]]:
    """All pairs, kept and moved."""
    both = [zip(*which, strict=True) for which in (found.kept, found.moved)]
    return sorted((int(one), int(other)) for which in both for one, other in which)


def longest(places: list[int]) -> int:
    """The length of a longest ascending run, by trying all of them."""
    for length in range(len(places), 0, -1):
        if any(list(some) == sorted(some) for some in combinations(places, length)):
            return length
    return 0


@given(lists, lists)
def test_every_record_of_both_lists_is_in_one_place(before: list[int], after: list[int]) -> None:
    found = matched(before, after)
    ones, others = [one for one, _ in pairs(found)], [other for _, other in pairs(found)]
    assert sorted([*ones, *found.removed.tolist()]) == list(range(len(before)))
    assert sorted([*others, *found.added.tolist()]) == list(range(len(after)))


@given(lists, lists)
def test_as_many_pairs_as_the_multisets_share(before: list[int], after: list[int]) -> None:
    found = matched(before, after)
    assert all(before[one] == after[other] for one, other in pairs(found))
    assert len(pairs(found)) == (Counter(before) & Counter(after)).total()


@given(words, words)
def test_the_kth_of_equal_records_is_paired_with_the_kth(
    before: list[int], after: list[int]
) -> None:
    for one, other in pairs(matched(before, after)):
        assert before[:one].count(before[one]) == after[:other].count(after[other])


@given(lists)
def test_a_list_does_not_differ_from_itself(values: list[int]) -> None:
    found = matched(values, values)
    assert len(found.removed) == len(found.added) == len(found.moved.before) == 0
    assert found.kept.before.tolist() == found.kept.after.tolist() == list(range(len(values)))


@given(lists, lists)
def test_the_other_way_round_removed_and_added_change_places(
    before: list[int], after: list[int]
) -> None:
    there, back = matched(before, after), matched(after, before)
    assert there.removed.tolist() == back.added.tolist()
    assert there.added.tolist() == back.removed.tolist()
    assert pairs(there) == sorted((other, one) for one, other in pairs(back))
    assert len(there.moved.before) == len(back.moved.before)


@given(words, words)
def test_as_few_are_moved_as_can_be(before: list[int], after: list[int]) -> None:
    found = matched(before, after)
    places = [other for _, other in pairs(found)]
    assert len(found.moved.before) == len(places) - longest(places)


@given(st.permutations(range(60)))
def test_what_kept_its_order_ascends_on_both_sides(values: list[int]) -> None:
    kept = matched(list(range(60)), values).kept
    assert (np.diff(kept.before) > 0).all() and (np.diff(kept.after) > 0).all()


@given(st.permutations(range(8)))
def test_an_ascending_run_is_a_longest_one(values: list[int]) -> None:
    run = ascending_run(array("q", values))
    assert list(run) == sorted(run)
    chosen = [values[at] for at in run]
    assert chosen == sorted(chosen) and len(chosen) == longest(values)


def test_one_record_that_goes_to_the_end_is_one_that_moved() -> None:
    values = list(range(1000))
    found = matched(values, [*values[1:], 0])
    assert (found.moved.before.tolist(), found.moved.after.tolist()) == ([0], [999])


def test_hashes_that_agree_in_one_half_are_not_equal() -> None:
    one = np.array([(5, 1), (5, 2), (5, 1), (6, 2)], dtype=np.uint64)
    other = np.array([(5, 2), (5, 1), (5, 3)], dtype=np.uint64)
    found = match(one, other)
    assert pairs(found) == [(0, 1), (1, 0)]
    assert (found.removed.tolist(), found.added.tolist()) == ([2, 3], [2])
