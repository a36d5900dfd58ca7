"""model/paths.py: which paths a version may hold, and which a node accepts."""

from __future__ import annotations

import os.path
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.model import paths
from tests.unit.examples import safe_paths

UNSAFE = [
    "",
    "/",
    "/etc/passwd",
    "..",
    "../a",
    "a/..",
    "a/../b",
    ".",
    "./a",
    "a/./b",
    "a/.",
    "a//b",
    "a/",
    "a\\b",
    "..\\a",
    "a\0b",
    "x" * 256,
    "é" * 128,
    "a/" + "x" * 256 + "/b",
    "/".join(["abcdefg"] * 600),
]
ODD = [
    "a+b",
    "50%",
    "a%2Bb",
    "a b",
    "[x]",
    "é",
    "~",
    "...",
    "..a",
    "a..",
    ".hidden",
    "a\nb",
    "x" * 255,
]


@pytest.mark.parametrize("path", UNSAFE)
def test_T26_a_path_that_leaves_its_root_is_refused_everywhere(path: str) -> None:
    assert paths.first_unsafe(["fine", path, "fine too"]) == path
    assert len(paths.offences(["fine", path])) == 1


@pytest.mark.parametrize("path", ODD)
def test_T23_odd_names_are_names(path: str) -> None:
    assert paths.first_unsafe([path]) is None
    assert paths.offences([path]) == []


@given(safe_paths)
def test_a_safe_path_stays_below_its_root(path: str) -> None:
    assert paths.first_unsafe([path]) is None
    joined = os.path.normpath(os.path.join("/below", path))
    assert joined == f"/below/{path}"


@given(st.text(max_size=20))
def test_T26_what_is_accepted_from_a_bucket_stays_below_the_root(path: str) -> None:
    if paths.first_unsafe([path]) is None:
        assert os.path.normpath(os.path.join("/below", path)) == f"/below/{path}"


@given(st.lists(st.text(max_size=8), max_size=6))
def test_a_maker_is_stricter_than_a_node(names: list[str]) -> None:
    if paths.first_unsafe(names) is not None:
        assert paths.offences(names)


def test_T19_a_file_beside_a_folder_of_its_name_is_named() -> None:
    findings = paths.offences(["a", "a/b", "a/b/c"])
    assert findings == [
        "'a' is a file and also a folder of 'a/b'",
        "'a/b' is a file and also a folder of 'a/b/c'",
    ]


def test_T28_names_that_only_begin_alike_do_not_clash() -> None:
    assert paths.offences(["c4", "c4-en/x", "c4.txt", "c40/x"]) == []


def test_T24_one_name_in_two_normal_forms() -> None:
    composed = "caf\u00e9.jsonl"
    decomposed = unicodedata.normalize("NFD", composed)
    assert paths.first_unsafe([composed, decomposed]) is None  # Linux can hold both
    (finding,) = paths.offences([composed, decomposed])
    assert "one name" in finding


@pytest.mark.parametrize(
    ("one", "other"),
    [("Logo.png", "logo.png"), ("A/x", "a/X"), ("straße", "STRASSE"), ("ﬁ", "fi")],
)
def test_T25_one_name_where_case_is_folded(one: str, other: str) -> None:
    (finding,) = paths.offences([one, other])
    assert repr(one) in finding
    assert repr(other) in finding


@pytest.mark.parametrize("names", [["Data", "data/y"], ["café/x", "cafe\u0301"]])
def test_T25_a_file_and_a_folder_that_fold_to_one_name(names: list[str]) -> None:
    assert len(paths.offences(names)) == 1


def test_T26_every_offender_is_named_at_once() -> None:
    assert len(paths.offences(["/a", "b\\c", "d//e", "../f", "fine"])) == 4


def test_a_name_that_is_not_utf8_is_said_to_be_one() -> None:
    assert paths.offences(["bad-\udcff"]) == ["'bad-\\udcff': the name is not UTF-8"]


def test_folders_are_all_parents() -> None:
    assert paths.folders(["a/b/c", "a/d", "e"]) == {"a", "a/b"}
