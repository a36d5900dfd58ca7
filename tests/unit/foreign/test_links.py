"""foreign/links.py: links of a Git tree mean what they would mean in a checkout."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from stager.errors import DataError
from stager.foreign import links
from stager.foreign.links import follow
from stager.packs.source import scan

FILES = {"a": 1, "sub/b": 2, "sub/deep/c": 3}


def one(link: str, text: str) -> tuple[dict[str, int], list[str]]:
    """What a single link among FILES stands for."""
    return follow(FILES, {link: text})


def test_a_link_to_a_file_is_the_file() -> None:
    assert one("l", "a") == ({"l": 1}, [])
    assert one("sub/l", "../a") == ({"sub/l": 1}, [])
    assert one("sub/deep/l", "./.././b") == ({"sub/deep/l": 2}, [])


def test_a_link_to_a_folder_is_all_in_it() -> None:
    assert one("l", "sub") == ({"l/b": 2, "l/deep/c": 3}, [])
    assert one("l", "sub/deep/") == ({"l/c": 3}, [])


def test_a_link_to_a_link() -> None:
    found = follow(FILES, {"x": "y", "y": "sub", "z": "y/deep/c"})
    assert found.files == {"x/b": 2, "x/deep/c": 3, "y/b": 2, "y/deep/c": 3, "z": 3}
    assert found.findings == []


def test_offenders_are_all_named() -> None:
    texts = {"1": "/a", "2": "../a", "3": "nowhere", "4": ".", "sub/5": "..", "6": "6", "7": ""}
    found = follow(FILES, texts)
    assert found.files == {}
    assert len(found.findings) == len(texts)
    for name in texts:
        assert any(finding.startswith(f"'{name}': ") for finding in found.findings)


def test_two_folders_that_link_to_each_other_end() -> None:
    found = follow({"a/f": 1, "b/g": 2}, {"a/x": "../b", "b/y": "../a"})
    assert found.files == {"a/x/g": 2, "b/y/f": 1}
    assert len(found.findings) == 2


def test_a_few_links_that_stand_for_a_million_files_are_refused() -> None:
    texts = {}
    for level in range(30):
        texts |= {f"d{level}/{side}": f"../d{level + 1}" for side in "xyz"}
    most, links.MOST_FILES = links.MOST_FILES, 1000
    try:
        found = follow({"d30/f": 1}, texts)
    finally:
        links.MOST_FILES = most
    assert any("too many files" in finding for finding in found.findings)


names = st.sampled_from(["a", "b", "d/a", "d/b", "d/e/a", "f/a"])
texts = st.lists(
    st.sampled_from(["..", ".", "a", "b", "d", "e", "f", "l", "m"]), min_size=1, max_size=3
)
places = st.sampled_from(["l", "m", "d/l", "d/e/m", "f/l"])


@given(st.sets(names, min_size=1), st.dictionaries(places, texts.map("/".join), max_size=3))
def test_it_is_what_a_scan_of_a_checkout_finds(files: set[str], made: dict[str, str]) -> None:
    found = follow({path: path for path in files}, made)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "root"
        for path in files:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(path)
        for path, text in made.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            os.symlink(text, root / path)
        try:
            scanned = {file.path: Path(file.location).read_text() for file in scan(root).files}
        except DataError:
            assert found.findings
        else:
            assert found.findings == []
            assert {**{path: path for path in files}, **found.files} == scanned
