"""Credentials are renewed in time, once for all threads, and the old ones kept while they hold."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from stager.errors import AccessDenied, MissingExtra
from stager.storage.credentials.provider import Provider
from stager.storage.credentials.sources import Ask, Found, Source, wrong
from stager.storage.credentials.values import Credentials
from stager.storage.secret import Secret


class Issuer:
    """A source that gives numbered credentials of a given life, on a clock of its own."""

    def __init__(self, life: float | None = 3600.0) -> None:
        self.now = 1000.0
        self.life = life
        self.asked = 0
        self.number = 0
        self.fails: Exception | None = None
        self.entered = threading.Event()
        self.gate: threading.Event | None = None

    def find(self) -> Found:
        """The next ones."""
        self.asked += 1
        self.entered.set()
        if self.gate is not None:
            assert self.gate.wait(10)
        if self.fails is not None:
            raise self.fails
        ends = None if self.life is None else self.now + self.life
        text = f"value-{self.number}"
        return Credentials(f"key-{self.number}", Secret(text), Secret(text), ends, "issuer")

    def provider(self) -> Provider:
        """A provider with this source alone."""
        places = [Source("issuer", lambda: Ask("issuer", self.find))]
        return Provider("aws", places, clock=lambda: self.now)


# Keeping them fresh


def test_credentials_are_found_once() -> None:
    issuer = Issuer(life=None)
    keys = issuer.provider()
    assert keys.current() is keys.current()
    issuer.now += 1e9
    keys.current()
    assert issuer.asked == 1


@pytest.mark.parametrize(("life", "early"), [(3600, 300), (400, 100), (4, 1)])
def test_new_ones_are_fetched_before_the_old_ones_end(life: float, early: float) -> None:
    issuer = Issuer(life)
    keys = issuer.provider()
    keys.current()
    issuer.number = 1
    issuer.now += life - early - 0.01
    assert keys.current().access_key_id == "key-0"
    issuer.now += 0.02
    assert keys.current().access_key_id == "key-1"
    assert issuer.asked == 2


def test_a_server_that_hands_out_the_same_ones_is_not_asked_at_every_request() -> None:
    issuer = Issuer()
    keys = issuer.provider()
    ends = keys.current().expires
    assert ends is not None
    for left in range(300, 0, -1):
        issuer.now, issuer.life = ends - left, left
        keys.current()
    assert issuer.asked < 30


def test_while_the_old_ones_hold_a_failed_renewal_is_kept_for_the_record() -> None:
    issuer = Issuer()
    keys = issuer.provider()
    keys.current()
    issuer.fails = wrong("issuer", "it is down")
    issuer.now += 3400
    assert keys.current().access_key_id == "key-0"
    assert "it is down" in keys.failure
    asked = issuer.asked
    keys.current()
    assert issuer.asked == asked  # not at once again
    issuer.now += 31
    keys.current()
    assert issuer.asked == asked + 1
    issuer.fails = None
    issuer.now += 31
    keys.current()
    assert keys.failure == ""


def test_when_they_have_ended_the_source_is_named() -> None:
    issuer = Issuer()
    keys = issuer.provider()
    keys.current()
    issuer.fails = wrong("issuer", "it is down")
    issuer.now += 3601
    with pytest.raises(AccessDenied, match="those from issuer have ended; it is down"):
        keys.current()
    issuer.fails = None
    assert keys.current().access_key_id == "key-0"


def test_what_has_ended_when_it_is_found_is_refused() -> None:
    with pytest.raises(AccessDenied, match="they have ended") as caught:
        Issuer(life=-1).provider().current()
    assert "clock" in caught.value.hint


def test_a_missing_package_stays_what_it_is() -> None:
    issuer = Issuer()
    issuer.fails = MissingExtra(purpose="x", package="botocore", extra="s3")
    with pytest.raises(MissingExtra, match="botocore"):
        issuer.provider().current()


# A store refused them


def test_renewing_tells_whether_there_are_others() -> None:
    issuer = Issuer(life=None)
    keys = issuer.provider()
    first = keys.current()
    assert not keys.renew(first)
    issuer.number = 1
    assert keys.renew(first)
    assert keys.current().access_key_id == "key-1"
    asked = issuer.asked
    assert keys.renew(first)  # somebody else has renewed already
    assert issuer.asked == asked


def test_a_renewal_that_fails_keeps_the_old_ones() -> None:
    issuer = Issuer(life=None)
    keys = issuer.provider()
    first = keys.current()
    issuer.fails = wrong("issuer", "it is down")
    assert not keys.renew(first)
    assert keys.current() is first


# In threads


def test_many_threads_make_one_question() -> None:
    issuer = Issuer()
    issuer.gate = threading.Event()
    keys = issuer.provider()
    with ThreadPoolExecutor(16) as pool:
        found = [pool.submit(keys.current) for _ in range(16)]
        assert issuer.entered.wait(10)
        issuer.gate.set()
        assert len({id(each.result()) for each in found}) == 1
    assert issuer.asked == 1


def test_waiting_threads_share_a_failure() -> None:
    issuer = Issuer()
    issuer.gate = threading.Event()
    issuer.fails = wrong("issuer", "it is down")
    keys = issuer.provider()
    waiting = threading.Barrier(9)

    def ask() -> str:
        waiting.wait(10)
        with pytest.raises(AccessDenied) as caught:
            keys.current()
        return str(caught.value)

    with ThreadPoolExecutor(8) as pool:
        said = [pool.submit(ask) for _ in range(8)]
        waiting.wait(10)
        assert issuer.entered.wait(10)
        issuer.gate.set()
        assert len({each.result() for each in said}) == 1
    assert issuer.asked < 8


def test_others_go_on_with_valid_ones_while_one_thread_asks() -> None:
    issuer = Issuer()
    keys = issuer.provider()
    old = keys.current()
    issuer.gate, issuer.number = threading.Event(), 1
    issuer.entered.clear()
    issuer.now += 3400
    with ThreadPoolExecutor(1) as pool:
        renewing = pool.submit(keys.current)
        assert issuer.entered.wait(10)
        assert keys.current() is old
        issuer.gate.set()
        assert renewing.result().access_key_id == "key-1"


def test_many_threads_refused_at_once_renew_once() -> None:
    issuer = Issuer(life=None)
    keys = issuer.provider()
    first = keys.current()
    issuer.number, issuer.gate = 1, threading.Event()
    issuer.entered.clear()
    with ThreadPoolExecutor(16) as pool:
        renewed = [pool.submit(keys.renew, first) for _ in range(16)]
        assert issuer.entered.wait(10)
        issuer.gate.set()
        assert all(each.result() for each in renewed)
    assert issuer.asked == 2
