"""events.py: who is told what, in which order."""

from __future__ import annotations

import pytest

from stager.events import Event, Noted, both, ignore


def test_both_tells_two_listeners_in_order() -> None:
    heard: list[tuple[str, Event]] = []
    tell = both(lambda event: heard.append(("a", event)), lambda event: heard.append(("b", event)))
    tell(Noted("hello"))
    assert heard == [("a", Noted("hello")), ("b", Noted("hello"))]


def test_ignore_takes_anything() -> None:
    ignore(Noted("nobody hears this"))


def test_an_event_is_a_value() -> None:
    with pytest.raises(AttributeError):
        Noted("said").text = "unsaid"  # type: ignore[misc]
