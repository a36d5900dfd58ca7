"""model/tree.py: the identity of a version."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.model.digest import digest_of
from stager.model.tree import FileEntry, Tree
from tests.unit.examples import contents, entry, safe_paths

trees = contents().map(lambda files: Tree.of(entry(path, data) for path, data in files.items()))


@given(trees)
def test_canonical_bytes_are_lines_of_json_sorted_by_the_bytes_of_the_path(tree: Tree) -> None:
    lines = tree.canonical().decode().split("\n")
    assert lines.pop() == ""
    rows = [json.loads(line) for line in lines]
    assert rows == [[file.path, file.size, str(file.digest)] for file in tree.files]
    encoded = [path.encode() for path, _, _ in rows]
    assert encoded == sorted(encoded)
    for line, row in zip(lines, rows, strict=True):
        assert line == json.dumps(row, ensure_ascii=False, separators=(",", ":"))


@given(trees, st.randoms(use_true_random=False))
def test_identity_does_not_depend_on_the_order_given(tree: Tree, order: random.Random) -> None:
    shuffled = list(tree.files)
    order.shuffle(shuffled)
    assert Tree.of(shuffled).digest() == tree.digest() == digest_of(tree.canonical())


@given(trees, safe_paths, st.binary(max_size=5))
def test_one_file_more_is_another_identity(tree: Tree, path: str, data: bytes) -> None:
    if all(file.path != path for file in tree.files):
        assert Tree.of([*tree.files, entry(path, data)]).digest() != tree.digest()


def test_a_path_that_stands_twice_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="twice"):
        Tree.of([entry("a", b"1"), entry("b"), entry("a", b"2")])


def test_T24_both_normal_forms_are_two_files() -> None:
    assert len(Tree.of([entry("caf\u00e9"), entry("cafe\u0301")]).files) == 2


def test_the_format_does_not_drift() -> None:
    files = [FileEntry("b", 1, digest_of(b"x")), FileEntry('a"\n\u00e9', 0, digest_of(b""))]
    assert (
        Tree.of(files).canonical()
        == (
            '["a\\"\\n\u00e9",0,"blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"]\n'
            '["b",1,"' + str(digest_of(b"x")) + '"]\n'
        ).encode()
    )
    assert Tree.of(files).bytes_raw == 1
