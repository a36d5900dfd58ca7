"""catalog/remote.py: the format of a remote, and what its store was found to honour."""

from __future__ import annotations

import json

import pytest

from stager.catalog.remote import facts, open_for_reading, open_for_writing
from stager.errors import AccessDenied, ManifestInvalid
from stager.events import Event, Warned
from stager.model.layout import FORMAT_KEY
from stager.storage.create_only import NonceCreate
from stager.storage.obstore_store import ObstoreStore, open_memory
from tests.unit.storage.scripted import Scripted
from tests.unit.storage.test_create_only import Ignoring


@pytest.fixture
def memory() -> ObstoreStore:
    """An empty remote."""
    return open_memory("memory://remote")


def test_the_first_writer_asks_and_leaves_the_answer(memory: ObstoreStore) -> None:
    heard: list[Event] = []
    assert open_for_writing(memory, heard.append) is memory
    assert json.loads(bytes(memory.get(FORMAT_KEY))) == {"format": 1, "create_only": True}
    assert [info.key for info in memory.list()] == [FORMAT_KEY]
    assert heard == []


def test_later_writers_ask_once(memory: ObstoreStore) -> None:
    open_for_writing(memory, pytest.fail)
    counted = Scripted(memory)
    open_for_writing(counted, pytest.fail)
    assert counted.asked == [("get", FORMAT_KEY)]


def test_T51_a_store_that_ignores_the_condition_is_worked_around_and_said(
    memory: ObstoreStore,
) -> None:
    heard: list[Event] = []
    for _ in range(2):  # the second reads the answer of the first
        store = open_for_writing(Ignoring(memory), heard.append)
        assert isinstance(store, NonceCreate)
    assert [type(event) for event in heard] == [Warned, Warned]


def test_two_first_writers_agree(memory: ObstoreStore) -> None:
    class Late(Scripted):
        """Another writer begins the remote between our look and our write."""

        def create(self, key: str, data: object) -> str:
            if key == FORMAT_KEY:
                self.inner.put(key, b'{"create_only": false, "format": 1}')
            return super().create(key, data)  # type: ignore[arg-type]

    assert isinstance(open_for_writing(Late(memory), lambda event: None), NonceCreate)


def test_what_a_remote_says_of_itself_can_be_asked(memory: ObstoreStore) -> None:
    assert facts(memory) is None
    open_for_writing(memory, pytest.fail)
    assert facts(memory) == {"create_only": True, "format": 1}


def test_an_empty_remote_can_be_read(memory: ObstoreStore) -> None:
    assert open_for_reading(memory) is memory
    assert list(memory.list()) == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"1",
        b"\xff",
        b'{"format": 2}',
        b'{"format": "1"}',
        b"[" * 100_000,
    ],
    ids=lambda data: repr(data[:20]),
)
def test_a_format_that_is_not_ours_is_refused(memory: ObstoreStore, data: bytes) -> None:
    memory.put(FORMAT_KEY, data)
    with pytest.raises(ManifestInvalid, match=r"stager\.json"):
        open_for_reading(memory)
    with pytest.raises(ManifestInvalid):
        open_for_writing(memory, lambda event: None)
    assert bytes(memory.get(FORMAT_KEY)) == data


def test_T59_a_denial_is_not_an_empty_remote(memory: ObstoreStore) -> None:
    with pytest.raises(AccessDenied):
        open_for_reading(Scripted(memory, "D"))
