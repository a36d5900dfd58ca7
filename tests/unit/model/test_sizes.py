"""model/sizes.py"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.model.sizes import parse_size, size_text


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


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0),
        ("1000", 1000),
        ("12 B", 12),
        ("500GB", 500 * 10**9),
        ("500 gb", 500 * 10**9),
        (" 1.5TiB ", 3 * 2**39),
        ("0.1kB", 100),
        ("1.0000000001KiB", 1024),
        ("2PB", 2 * 10**15),
    ],
)
def test_words_in_bytes(text: str, count: int) -> None:
    assert parse_size(text) == count


@pytest.mark.parametrize(
    "text",
    ["", "GB", "5G", "5 GBs", "-1", "1e9", "1.5", "1.5B", ".5GB", "5.GB", "1,5GB", "٣GB", "5  GB"],
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a size"):
        parse_size(text)


@given(st.integers(min_value=0, max_value=10**17))
def test_a_size_in_words_is_nearly_that_size(count: int) -> None:
    assert abs(parse_size(size_text(count)) - count) <= max(0.05 * count, 0.5)


@given(st.integers(min_value=0, max_value=10**18))
def test_plain_bytes_are_exact(count: int) -> None:
    assert parse_size(str(count)) == count
