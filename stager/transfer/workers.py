"""Threads that pull work: bounded, in order of arrival, stopped by the first failure.

Plain threading rather than concurrent.futures: the items come from a generator that must
not run ahead of the workers, the first error must stop the rest, and the import is free.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def for_each(items: Iterable[T], work: Callable[[T], None], workers: int) -> None:
    """Calls `work` for every item on `workers` threads; raises the first exception.

    The iterator is advanced by one thread at a time and only when a worker is free, so at
    most `workers` items exist. After a failure no further item is begun.
    """
    crew = _Crew(iter(items), work)
    threads = [
        threading.Thread(target=crew.run, name=f"stager-{number}", daemon=True)
        for number in range(workers)
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)  # wakes for Ctrl-C
    finally:
        crew.stopped.set()
    if crew.failure is not None:
        raise crew.failure


class _Crew:
    def __init__(self, items: Iterator[T], work: Callable[[T], None]) -> None:
        self.stopped = threading.Event()
        self.failure: BaseException | None = None
        self._items = items
        self._work = work
        self._turn = threading.Lock()

    def run(self) -> None:
        """One worker: takes items until there are none or somebody failed."""
        try:
            while not self.stopped.is_set():
                with self._turn:
                    if self.stopped.is_set():
                        return
                    item = next(self._items, self)
                if item is self:
                    return
                self._work(item)  # type: ignore[arg-type]
        except BaseException as problem:  # noqa: BLE001 - carried to the caller's thread
            if self.failure is None:
                self.failure = problem
            self.stopped.set()


def in_order(items: Iterable[T], work: Callable[[T], R], workers: int, ahead: int) -> Iterator[R]:
    """Results in the order of the items, `ahead` of them at most in the making."""
    from concurrent.futures import Future, ThreadPoolExecutor

    waiting: deque[Future[R]] = deque()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="stager-code")
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
