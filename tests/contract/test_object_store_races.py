"""Many at once: create-only has one winner, and nobody sees half an object."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from stager.catalog import tags
from stager.catalog.remote import open_for_writing
from stager.catalog.tags import TagMovement
from stager.errors import PreconditionFailed, TagMoved
from stager.events import Event, Warned
from stager.storage.create_only import NonceCreate
from stager.storage.store import ObjectStore
from tests.contract.stores import RACERS, Place
from tests.contract.test_object_store import keys

THREADS = 12


def at_once(works: list[Callable[[], None]]) -> list[BaseException]:
    """Runs all on threads that start together; what they raised."""
    start, failures = threading.Barrier(len(works)), []

    def run(work: Callable[[], None]) -> None:
        start.wait()
        try:
            work()
        except BaseException as problem:  # noqa: BLE001 - judged by the test
            failures.append(problem)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


@pytest.mark.parametrize("attempt", range(2))
def test_T50_of_many_creators_exactly_one_wins(store: ObjectStore, attempt: int) -> None:
    if not store.capabilities.create_only or isinstance(store, NonceCreate):
        pytest.skip("this store says that its create() is not atomic")
    won: list[bytes] = []

    def create(content: bytes) -> None:
        store.create("datasets/a/versions/v4.json", content)
        won.append(content)

    contents = [f"writer {number}".encode() * 100 for number in range(THREADS)]
    failures = at_once([lambda content=content: create(content) for content in contents])
    assert len(won) == 1
    assert [type(failure) for failure in failures] == [PreconditionFailed] * (THREADS - 1)
    assert bytes(store.get("datasets/a/versions/v4.json")) == won[0]


def test_a_reader_never_sees_half_an_object(store: ObjectStore) -> None:
    sizes = (10_000, 20_000)
    store.put("object", bytes(sizes[0]))
    seen: set[int] = set()

    def write() -> None:
        for number in range(20):
            store.put("object", bytes(sizes[number % 2]))

    def read() -> None:
        for _ in range(40):
            seen.add(len(store.get("object")))

    assert at_once([write, read, read]) == []
    assert seen <= set(sizes)


def test_many_writers_of_many_keys(store: ObjectStore) -> None:
    def write(number: int) -> None:
        for at in range(5):
            store.put(f"folder-{at}/{number}", f"{number} {at}".encode())

    works = [lambda number=number: write(number) for number in range(8)]
    assert at_once(works) == []
    assert len(keys(store)) == 40
    assert bytes(store.get("folder-3/5")) == b"5 3"


@pytest.mark.parametrize("name", RACERS)
def test_T50_T51_T70_one_of_many_writers_gets_the_number(place: Place, name: str) -> None:
    store = RACERS[name](place)
    warned: list[Event] = []
    remote = open_for_writing(store, warned.append)
    won: list[bytes] = []

    def create(content: bytes) -> None:
        remote.create("datasets/a/versions/v4.json", content)
        won.append(content)

    contents = [f"writer {number}".encode() * 100 for number in range(THREADS)]
    failures = at_once([lambda content=content: create(content) for content in contents])
    assert len(won) == 1
    assert {type(failure) for failure in failures} == {PreconditionFailed}
    assert bytes(store.get("datasets/a/versions/v4.json")) == won[0]
    with pytest.raises(PreconditionFailed):  # and later comers neither
        remote.create("datasets/a/versions/v4.json", b"late")
    promised = name in ("oss", "oss-versioned", "moto")
    assert [type(event) for event in warned] == ([] if promised else [Warned])
    assert [info.key for info in store.list()] == ["datasets/a/versions/v4.json", "stager.json"]


@pytest.mark.parametrize("name", ["oss", "cos"])
def test_T50_one_of_many_movers_of_a_tag_is_not_told_otherwise(place: Place, name: str) -> None:
    remote = open_for_writing(RACERS[name](place), lambda event: None)
    moved: list[str] = []

    def move(version: str) -> None:
        tags.move(remote, "a", "prod", TagMovement(version, "2026-12-01T00:00:00Z", version))
        moved.append(version)

    works = [lambda number=number: move(f"v{number}") for number in range(1, THREADS)]
    failures = at_once(works)
    assert {type(failure) for failure in failures} <= {TagMoved}
    assert moved  # those who looked after a move was done moved it on
    assert len(list(remote.list("datasets/a/tags/"))) == len(moved)
    assert tags.read(remote, "a", "prod") in moved
