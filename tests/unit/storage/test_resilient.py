"""storage/resilient.py: counting, limiting and retrying, over a store that fails by script."""

from __future__ import annotations

import contextlib
import gc
import itertools
import weakref

import pytest

from stager.errors import (
    AccessDenied,
    CredentialsExpired,
    ObjectNotFound,
    PreconditionFailed,
    StorageError,
    StorageUnavailable,
)
from stager.events import Event, Requested, Retried, ignore
from stager.storage import resilient
from stager.storage.obstore_store import open_memory
from stager.storage.resilient import Counted, Retrying, Wrapper
from tests.unit.storage.scripted import Scripted


class Trial:
    """A memory store behind a script behind retries; delays are noted, not slept."""

    def __init__(self, script: str = "", attempts: int = 4) -> None:
        self.memory = open_memory("memory://trial")
        self.scripted = Scripted(self.memory, script)
        self.events: list[Event] = []
        self.delays: list[float] = []
        self.store = Retrying(self.scripted, attempts, self.events.append, self.delays.append)

    def retries(self) -> list[tuple[str, str, int]]:
        """(kind, key, attempt) of every retry that was reported."""
        found = [event for event in self.events if isinstance(event, Retried)]
        assert len(found) == len(self.delays)
        return [(event.kind, event.key, event.attempt) for event in found]


def test_T63_what_is_transient_is_tried_again() -> None:
    trial = Trial("TT.")
    trial.memory.put("a", b"x")
    assert bytes(trial.store.get("a")) == b"x"
    assert trial.retries() == [("get", "a", 1), ("get", "a", 2)]


def test_attempts_end() -> None:
    trial = Trial("T" * 9, attempts=3)
    with pytest.raises(StorageUnavailable):
        trial.store.head("a")
    assert len(trial.scripted.asked) == 3
    assert len(trial.delays) == 2


def test_T59_a_denial_stops_at_once() -> None:
    trial = Trial("D")
    with pytest.raises(AccessDenied):
        trial.store.put("a", b"x")
    assert trial.delays == []
    assert len(trial.scripted.asked) == 1


def test_what_is_not_there_is_not_asked_for_again() -> None:
    trial = Trial()
    with pytest.raises(ObjectNotFound):
        trial.store.get("a")
    assert trial.delays == []


def test_delays_grow_with_jitter_and_are_bounded() -> None:
    trial = Trial("T" * 40, attempts=41)
    trial.memory.put("a", b"x")
    trial.store.get("a")
    assert all(0 <= delay <= resilient.LONGEST_DELAY for delay in trial.delays)
    assert all(delay <= resilient.FIRST_DELAY * 4 for delay in trial.delays[:2])
    assert max(trial.delays[10:]) > 1
    assert len(set(trial.delays)) > 30


def test_T50_a_create_whose_answer_was_lost_counts_as_done() -> None:
    trial = Trial("L")
    etag = trial.store.create("v4.json", b"mine")
    assert bytes(trial.memory.get("v4.json")) == b"mine"
    assert etag == trial.memory.head("v4.json").etag


def test_T50_a_create_that_lost_against_another_says_so_after_a_retry_too() -> None:
    trial = Trial("T")
    trial.memory.create("v4.json", b"theirs")
    with pytest.raises(PreconditionFailed):
        trial.store.create("v4.json", b"mine")
    assert bytes(trial.memory.get("v4.json")) == b"theirs"


def test_T50_equal_content_does_not_win_without_a_retry() -> None:
    """Only a lost answer may make an existing object ours: two may write the same bytes."""
    trial = Trial()
    trial.memory.create("v4.json", b"same")
    with pytest.raises(PreconditionFailed):
        trial.store.create("v4.json", b"same")


def test_a_delete_is_tried_again_whole() -> None:
    trial = Trial("T")
    trial.memory.put("a", b"x")
    trial.memory.put("b", b"x")
    trial.store.delete(iter(["a", "b"]))
    assert list(trial.memory.list()) == []


def test_a_listing_that_breaks_goes_on_after_the_last_key() -> None:
    trial = Trial("..T.T")
    wanted = [f"k{number}" for number in range(5)]
    for key in wanted:
        trial.memory.put(key, b"x")
    assert [info.key for info in trial.store.list()] == wanted
    assert [retry[0] for retry in trial.retries()] == ["list", "list"]


def test_a_listing_that_never_gets_further_ends() -> None:
    trial = Trial("T" * 9, attempts=3)
    trial.memory.put("a", b"x")
    with pytest.raises(StorageUnavailable):
        list(trial.store.list())


def test_no_key_is_lost_when_a_store_lists_in_an_order_of_its_own() -> None:
    """SeaweedFS gives `a/x` before `a-b`; retrying must not take that for a repetition."""

    class Unordered(Wrapper):
        def list(self, prefix: str = "") -> object:  # type: ignore[override]
            return iter(sorted(self.inner.list(prefix), key=lambda info: info.key.split("/")))

    memory = open_memory("memory://unordered")
    for key in ("a-b", "a.b", "a/x", "a0"):
        memory.put(key, b"x")
    store = Retrying(Unordered(memory), 3, ignore)
    assert {info.key for info in store.list()} == {"a-b", "a.b", "a/x", "a0"}


def test_every_request_is_counted_with_its_bytes() -> None:
    heard: list[Event] = []
    store = Counted(open_memory("memory://counted"), heard.append)
    store.put("a", b"12345")
    store.get("a", 1, 3)
    store.head("a")
    store.create("b", b"12")
    store.delete(["a", "b"])
    store.put_stream("c", [b"1", b"23"])
    with pytest.raises(ObjectNotFound):
        store.get("nothing")
    facts = [
        (event.kind, event.key, event.sent, event.received)
        for event in heard
        if isinstance(event, Requested)
    ]
    assert facts == [
        ("put", "a", 5, 0),
        ("get", "a", 0, 2),
        ("head", "a", 0, 0),
        ("put", "b", 2, 0),
        ("delete", "a", 0, 0),
        ("put", "c", 1, 0),
        ("put", "c", 2, 0),
        ("get", "nothing", 0, 0),
    ]


def test_a_listing_counts_its_pages() -> None:
    heard: list[Event] = []
    memory = open_memory("memory://pages")
    store = Counted(memory, heard.append)
    assert list(store.list()) == []
    assert len(heard) == 1
    for number in range(resilient.PAGE + 1):
        memory.put(f"{number:05}", b"")
    assert len(list(store.list())) == resilient.PAGE + 1
    assert len(heard) == 3


def test_T68_a_listing_that_goes_round_in_circles_is_an_error() -> None:
    """With a page that goes on with itself, a push did not end; a few keys twice are forgiven."""
    trial = Trial()
    for number in range(10):
        trial.memory.put(f"{number}", b"")
    page = list(trial.memory.list())
    trial.scripted.list = lambda _="": iter(page * 4)  # type: ignore[method-assign]
    assert [info.key for info in trial.store.list()] == [info.key for info in page]
    trial.scripted.list = lambda _="": itertools.cycle(page)  # type: ignore[method-assign]
    with pytest.raises(StorageError, match="in circles"):
        list(trial.store.list())


def test_a_wrapper_tells_the_url_and_the_capabilities_of_what_it_wraps() -> None:
    memory = open_memory("memory://wrapped")
    wrapped = Retrying(Counted(memory, ignore), 3, ignore)
    assert wrapped.url == "memory://wrapped"
    assert wrapped.capabilities is memory.capabilities


class Keys:
    """Credentials that are renewed a number of times."""

    def __init__(self, newer: int) -> None:
        self.newer = newer
        self.asked: list[object] = []
        self.number = 0

    def current(self) -> int:
        return self.number

    def renew(self, than: object) -> bool:
        self.asked.append(than)
        if self.number >= self.newer:
            return False
        self.number += 1
        return True


@pytest.mark.parametrize("script", ["E", "EE", "TE", "ET", "EEE"])
def test_T58_a_token_that_expired_is_renewed_and_the_request_made_again(script: str) -> None:
    keys, heard, waited = Keys(newer=9), [], []
    scripted = Scripted(open_memory("memory://renewed"), script)
    store = Retrying(scripted, 2, heard.append, waited.append, keys)
    store.put("a", b"x")
    assert keys.number == script.count("E")
    assert len(heard) == len(script)


def test_T59_a_token_that_stays_expired_stops_at_once() -> None:
    keys, waited = Keys(newer=1), []
    scripted = Scripted(open_memory("memory://expired"), "EEEE")
    with pytest.raises(CredentialsExpired):
        Retrying(scripted, 6, ignore, waited.append, keys).put("a", b"x")
    assert len(scripted.asked) == 2
    scripted = Scripted(open_memory("memory://expired"), "E")
    with pytest.raises(CredentialsExpired):
        Retrying(scripted, 6, ignore, waited.append).put("a", b"x")
    assert len(scripted.asked) == 1


def test_a_token_that_is_refused_however_new_is_not_renewed_for_ever() -> None:
    keys = Keys(newer=1000)
    scripted = Scripted(open_memory("memory://expired"), "E" * 1000)
    with pytest.raises(CredentialsExpired):
        Retrying(scripted, 6, ignore, lambda seconds: None, keys).get("a")
    assert len(scripted.asked) == resilient.RENEWALS + 1


def test_a_listing_goes_on_with_a_new_token() -> None:
    memory = open_memory("memory://listed")
    for name in "abc":
        memory.put(name, b"x")
    store = Retrying(Scripted(memory, ".E"), 2, ignore, lambda seconds: None, Keys(newer=1))
    assert [info.key for info in store.list()] == ["a", "b", "c"]


@pytest.mark.parametrize("script", ["", "TTTT", "E"])
def test_T16_a_failure_keeps_no_buffer_of_its_callers(script: str) -> None:
    """Packs of 24 MiB lived until the collector came, for each was looked up before it was sent."""

    class Buffer(bytearray):
        """Can be referred to weakly."""

    def caller(trial: Trial) -> weakref.ref[Buffer]:
        pack = Buffer(10)
        with contextlib.suppress(StorageError):
            trial.store.head("missing")
        return weakref.ref(pack)

    gc.disable()
    try:
        assert caller(Trial(script))() is None
    finally:
        gc.enable()
