"""model/names.py: what users type."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.errors import UsageError
from stager.model import names
from stager.model.names import Reference, parse_reference

segments = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,20}", fullmatch=True).filter(
    lambda segment: segment not in names.RESERVED_SEGMENTS
)
labels = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)


@given(st.lists(segments, min_size=1, max_size=4).map("/".join), st.none() | labels)
def test_a_reference_prints_and_parses(name: str, selector: str | None) -> None:
    reference = Reference(name, selector)
    assert parse_reference(str(reference)) == reference


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@v3",
        "alpaca@",
        "Alpaca",
        "a/b/c/d/e",
        "a//b",
        "/a",
        "a/",
        "../a",
        "a/..",
        ".a",
        "-a",
        "a b",
        "a\n",
        "a@v3\n",
        "a@../v3",
        "a@v/3",
        "a@v3@v4",
        "羊驼",
        "a+b",
        "a\0",
        "x" * 101,
        "team/versions",
        "team/tags/x",
    ],
)
def test_T26_what_is_no_reference_is_refused_in_words(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_reference(text)
    assert "is not a" in str(caught.value)


@given(st.text(max_size=30))
def test_parsing_fails_in_one_way(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert str(parse_reference(text)) == text


def test_no_selector_and_latest_mean_the_newest() -> None:
    assert parse_reference("alpaca").is_latest
    assert parse_reference("alpaca@latest").is_latest
    assert not parse_reference("alpaca@v1").is_latest
    assert Reference("alpaca").at("v2") == Reference("alpaca", "v2")


@pytest.mark.parametrize(
    ("label", "number"),
    [("v1", 1), ("v42", 42), ("v0", None), ("v01", None), ("V1", None), ("v", None), ("v1a", None)],
)
def test_numbered_versions(label: str, number: int | None) -> None:
    assert names.version_number(label) == number
    if number:
        assert names.numbered(number) == label


def test_nearest_names_what_may_have_been_meant() -> None:
    assert names.nearest("alpcaa", ["alpaca", "c4"]) == "; did you mean alpaca?"
    assert names.nearest("zzz", ["alpaca"]) == ""
