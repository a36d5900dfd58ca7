"""storage/clients.py: how long a client waits, and for whom it signs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from stager.storage import clients
from stager.storage.clients import Clients
from stager.storage.credentials.values import Credentials
from stager.storage.secret import Secret

MIB = 1024 * 1024


class Made:
    """Clients as they were asked for: their patience in seconds, and their headers."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def __call__(self, options: Any) -> Any:
        self.asked.append(options)
        return options


def patience(client: Any) -> float:
    return float(client["read_timeout"].total_seconds())


def test_a_reader_waits_as_long_as_it_was_told() -> None:
    made = Clients(Made(), 7.0)
    assert patience(made.reading) == 7.0


def test_T62_an_upload_is_given_time_by_its_size() -> None:
    made = Clients(Made(), 30.0)
    with made.writing(1000) as small, made.writing(24 * MIB) as large:
        assert patience(small) == 60.0
        assert patience(large) >= 24 * MIB / clients.FIRST_RATE


def test_clients_are_made_once_for_each_patience() -> None:
    opener = Made()
    made = Clients(opener, 30.0)
    for size in (1, 1000, 24 * MIB, 24 * MIB):
        with made.writing(size):
            pass
    assert len(opener.asked) == 3  # the reader, and two patiences


def test_T62_a_link_that_is_slower_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    made = Clients(Made(), 5.0)
    with pytest.raises(OSError, match="timed out"), made.writing(24 * MIB) as first:
        now[0] += patience(first)
        raise OSError("timed out")
    with made.writing(24 * MIB) as second:
        assert patience(second) > patience(first)
    with pytest.raises(OSError, match="reset"), made.writing(24 * MIB) as third:
        raise OSError("reset")
    with made.writing(24 * MIB) as fourth:
        assert patience(third) == patience(fourth)


def test_only_a_creating_client_sends_the_header() -> None:
    made = Clients(Made(), 5.0)
    with made.writing(10, create=True) as creating, made.writing(10) as writing:
        assert creating["default_headers"] == {"x-cos-forbid-overwrite": "true"}
        assert "default_headers" not in writing


def test_credentials_are_asked_for_again_before_obstore_would() -> None:
    class Keys:
        def current(self) -> Credentials:
            return Credentials("id", Secret("s"), Secret(""), None, "a test")

    given = clients._asking(Keys())()  # type: ignore[arg-type]
    assert given["access_key_id"] == "id"
    assert given["token"] is None
    assert 0 < (given["expires_at"] - datetime.now(UTC)).total_seconds() < 300
