"""storage/adaptive.py: more at once while that moves more, fewer when the store asks."""

from __future__ import annotations

import threading

import pytest

from stager.errors import StorageThrottled
from stager.storage.adaptive import BEGIN, Adaptive, Pace
from stager.storage.obstore_store import open_memory
from stager.storage.resilient import Wrapper
from tests.unit.storage.scripted import Scripted


def test_no_more_requests_at_once_than_allowed() -> None:
    inside, most = [0], [0]
    guard, arrived = threading.Lock(), threading.Barrier(2)

    class Watched(Wrapper):
        def get(self, key: str, *_: object) -> bytes:  # type: ignore[override]
            with guard:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            arrived.wait(timeout=10)  # two are inside together, or this breaks
            with guard:
                inside[0] -= 1
            return b""

    store = Adaptive(Watched(open_memory("memory://limited")), most=2)
    threads = [threading.Thread(target=store.get, args=("a",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [2]


MIB = 1024 * 1024


class Link:
    """Seconds a request takes: one connection makes `each` bytes a second, all make `whole`."""

    def __init__(self, each: float, whole: float, latency: float = 0.01) -> None:
        self.each, self.whole, self.latency = each, whole, latency
        self.now = 100.0

    def run(self, pace: Pace, seconds: float, size: int = 8 * MIB, refuses_above: int = 99) -> None:
        """Requests of `size` bytes, as many at once as the pace says, for so long."""
        until = self.now + seconds
        while self.now < until:
            at_once = pace.limit
            if at_once > refuses_above:
                self.now += 0.1
                pace.slow_down(self.now)
                continue
            took = self.latency + max(size / self.each, at_once * size / self.whole)
            self.now += took
            for _ in range(at_once):
                pace.sample(self.now, size, took, busy=True)


def test_more_at_once_while_that_moves_more() -> None:
    pace = Pace(64)
    Link(each=20 * MIB, whole=800 * MIB).run(pace, 60)
    assert 36 <= pace.limit <= 64  # 40 connections fill the link


def test_no_more_than_fills_the_link() -> None:
    pace = Pace(64)
    Link(each=200 * MIB, whole=400 * MIB).run(pace, 120)
    assert pace.limit <= BEGIN + 2


def test_never_more_than_the_most_and_never_none() -> None:
    pace = Pace(4)
    Link(each=MIB, whole=900 * MIB).run(pace, 300)
    assert pace.limit == 4
    for second in range(100):
        pace.slow_down(1000.0 + 10 * second)
    assert pace.limit == 1


def test_a_store_that_asks_to_slow_down_gets_half_at_once() -> None:
    pace = Pace(64)
    pace.slow_down(100.0)
    assert pace.limit == BEGIN // 2
    for _ in range(20):  # the answers to what was on its way
        pace.slow_down(100.1)
    assert pace.limit == BEGIN // 2


def test_a_limit_that_was_refused_is_not_tried_again_soon() -> None:
    pace, link = Pace(64), Link(each=20 * MIB, whole=2000 * MIB)
    link.run(pace, 20, refuses_above=12)
    refused = 0
    for _ in range(40):
        before = pace.limit
        link.run(pace, 1, refuses_above=12)
        refused += pace.limit < before // 2 + 1
    assert refused <= 4
    assert pace.limit >= 4


def test_latency_that_collapses_takes_some_away() -> None:
    pace, link = Pace(64), Link(each=50 * MIB, whole=400 * MIB)
    link.run(pace, 20)
    before = pace.limit
    link.latency, link.whole = 5.0, 100 * MIB
    link.run(pace, 30)
    assert pace.limit < before


def test_small_requests_after_large_ones_are_no_collapse() -> None:
    pace, link = Pace(64), Link(each=50 * MIB, whole=800 * MIB, latency=0.05)
    link.run(pace, 20)
    before = pace.limit
    link.run(pace, 5, size=64 * 1024)
    assert pace.limit >= before * 3 // 4  # at most the last step is taken back


def test_few_requests_teach_nothing() -> None:
    pace = Pace(64)
    for second in range(100):
        pace.sample(100.0 + second, 8 * MIB, 0.5, busy=False)
    assert pace.limit == BEGIN


def test_a_refusal_that_asks_for_less_is_heard_by_the_wrapper() -> None:
    store = Adaptive(Scripted(open_memory("memory://busy"), "S"), most=8)
    with pytest.raises(StorageThrottled):
        store.put("a", b"x")
    assert store.pace.limit == BEGIN // 2
    store.put("a", b"x")
