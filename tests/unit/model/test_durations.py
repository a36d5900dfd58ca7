"""model/durations.py: spans of time as users write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.errors import UsageError
from stager.model.durations import UNITS, duration_text, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0s", 0), ("90s", 90), ("36h", 129_600), ("7d", 604_800), ("1w", 604_800)],
)
def test_spans(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "1.5h", "7 d", "7days", "1e3s", "٣d"])
def test_what_is_no_span_is_refused_with_the_units(text: str) -> None:
    with pytest.raises(UsageError, match="s, m, h, d, w"):
        parse_duration(text)


@given(st.integers(0, 999_999), st.sampled_from(sorted(UNITS)))
def test_a_span_in_words_is_the_same_span(count: int, unit: str) -> None:
    seconds = parse_duration(f"{count}{unit}")
    assert parse_duration(duration_text(seconds)) == seconds
