"""model/tree_diff.py: files of two trees, compared by digest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stager.model.tree import FileEntry, Tree
from stager.model.tree_diff import compare
from tests.unit.examples import entry

trees = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([b"", b"1", b"2", b"3"]))


def files(contents: dict[str, bytes]) -> tuple[FileEntry, ...]:
    """Entries in canonical order."""
    return Tree.of(entry(path, content) for path, content in contents.items()).files


@given(trees, trees)
def test_every_file_of_both_trees_is_in_one_place(
    before: dict[str, bytes], after: dict[str, bytes]
) -> None:
    found = compare(files(before), files(after))
    pairs = [*found.changed, *found.renamed]
    ones = [*found.same, *found.removed, *(one for one, _ in pairs)]
    others = [*found.same, *found.added, *(other for _, other in pairs)]
    assert sorted(ones) == sorted(files(before))
    assert sorted(others) == sorted(files(after))


@given(trees, trees)
def test_pairs_are_what_they_are_called(before: dict[str, bytes], after: dict[str, bytes]) -> None:
    found = compare(files(before), files(after))
    assert all(one.digest != other.digest for one, other in found.changed)
    assert all(one.digest == other.digest and one.path != other.path and one.size
               for one, other in found.renamed)  # fmt: skip
    left = {one.digest for one in found.removed if one.size}
    assert left.isdisjoint(other.digest for other in found.added)


@given(trees, trees)
def test_the_other_way_round(before: dict[str, bytes], after: dict[str, bytes]) -> None:
    there, back = compare(files(before), files(after)), compare(files(after), files(before))
    assert (there.added, there.removed) == (back.removed, back.added)
    assert set(there.changed) == {(one, other) for other, one in back.changed}
    assert there.same == back.same and len(there.renamed) == len(back.renamed)


@given(trees)
def test_a_tree_does_not_differ_from_itself(contents: dict[str, bytes]) -> None:
    found = compare(files(contents), files(contents))
    assert found.is_empty and found.same == files(contents)


def test_single_files_are_compared_whatever_their_names() -> None:
    (pair,) = compare(files({"old": b"1"}), files({"new": b"2"})).changed
    assert (pair[0].path, pair[1].path) == ("old", "new")
    assert not compare(files({"old": b"1"}), files({"new": b"1"})).changed
    assert not compare(files({"old": b"1", "x": b"9"}), files({"new": b"2", "x": b"9"})).changed


def test_an_empty_file_is_not_renamed() -> None:
    found = compare(files({"a": b"", "x": b"1"}), files({"b": b"", "x": b"1"}))
    assert (len(found.added), len(found.removed), found.renamed) == (1, 1, ())
