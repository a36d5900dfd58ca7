"""transfer/workers.py: bounded, in order, stopped by the first failure."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from stager.errors import Cancelled
from stager.transfer.workers import for_each, in_order


@pytest.mark.parametrize("workers", [1, 4])
def test_every_item_is_worked_on_once(workers: int) -> None:
    done: list[int] = []
    for_each(range(100), done.append, workers)
    assert sorted(done) == list(range(100))


def test_no_items_is_no_work() -> None:
    for_each([], pytest.fail, 3)
    assert list(in_order([], pytest.fail, 3, 3)) == []


def test_T56_no_more_items_exist_than_workers() -> None:
    alive, most, guard = set(), [0], threading.Lock()

    def items() -> Iterator[int]:
        for number in range(50):
            with guard:
                alive.add(number)
                most[0] = max(most[0], len(alive))
            yield number

    def work(number: int) -> None:
        with guard:
            alive.discard(number)

    for_each(items(), work, 4)
    assert most[0] <= 4


def test_T59_the_first_failure_is_raised_and_stops_the_rest() -> None:
    done: list[int] = []

    def work(number: int) -> None:
        if number == 3:
            raise KeyError(number)
        done.append(number)

    with pytest.raises(KeyError):
        for_each(range(10_000), work, 2)
    assert len(done) < 1000


def test_a_failure_of_the_items_is_raised_too() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("the listing broke")

    with pytest.raises(ValueError, match="the listing broke"):
        for_each(items(), lambda number: None, 3)


def test_a_cancellation_in_a_worker_reaches_the_caller() -> None:
    def work(number: int) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        for_each(range(3), work, 2)


@pytest.mark.parametrize(("workers", "ahead"), [(1, 1), (3, 2), (4, 9)])
def test_results_come_in_the_order_of_the_items(workers: int, ahead: int) -> None:
    assert list(in_order(range(50), lambda number: number * 2, workers, ahead)) == [
        number * 2 for number in range(50)
    ]


def test_T56_results_are_not_made_far_ahead() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(50):
            taken.append(number)
            yield number

    results = in_order(items(), lambda number: number, 2, 3)
    assert next(results) == 0
    assert len(taken) == 3
    results.close()  # type: ignore[attr-defined]


def test_a_failure_comes_where_its_result_would() -> None:
    def work(number: int) -> int:
        return 10 // (2 - number)

    results = in_order(range(5), work, 2, 4)
    assert [next(results), next(results)] == [5, 10]
    with pytest.raises(ZeroDivisionError):
        next(results)
