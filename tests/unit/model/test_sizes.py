"""model/sizes.py"""

from __future__ import annotations

import pytest

from stager.model.sizes import size_text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (3_240_000_000, "3.2 GB"),
        (5e12, "5.0 TB"),
        (5e15, "5000.0 TB"),
    ],
)
def test_bytes_in_words(count: float, text: str) -> None:
    assert size_text(count) == text


@pytest.mark.parametrize("count", [999_960, 999_999_999])
def test_rounding_never_shows_a_thousand(count: float) -> None:
    assert not size_text(count).startswith("1000")
