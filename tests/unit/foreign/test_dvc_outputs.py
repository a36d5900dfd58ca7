"""foreign/dvc_outputs.py: what DVC's files say, and files that say nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stager.errors import DataError, UsageError
from stager.foreign.dvc_outputs import checked, find
from stager.foreign.trees import is_pointer

MD5 = "0123456789" * 3 + "01"  # digits only: YAML would read a number


class Files(dict[str, str]):
    """A Tree of texts."""

    def read(self, path: str) -> bytes | None:
        """See Tree.read."""
        return self[path].encode() if path in self else None

    def pointers(self) -> Iterator[tuple[str, bytes]]:
        """See Tree.pointers."""
        return ((path, self[path].encode()) for path in self if is_pointer(path.rpartition("/")[2]))


def test_a_file_of_dvc_3_and_one_of_dvc_2() -> None:
    files = Files({"in/a.dvc": f"outs:\n- md5: {MD5}\n  size: 7\n  hash: md5\n  path: a\n"})
    found, below = find(files, "in/a")
    assert (found.path, found.md5, found.size, found.is_old, below) == ("in/a", MD5, 7, False, "")
    old, _ = find(Files({"a.dvc": f"outs:\n- md5: {MD5}\n  path: a\n"}), "a")
    assert (old.is_old, old.size) == (True, -1)


def test_a_path_inside_a_folder() -> None:
    files = Files({"d.dvc": f"outs:\n- md5: {MD5}.dir\n  path: d\n  remote: other\n"})
    found, below = find(files, "d/e/f")
    assert (found.path, found.remote, below) == ("d", "other", "e/f")
    with pytest.raises(UsageError):
        find(files, "de")


def test_the_working_folder_of_a_pointer_and_of_stages() -> None:
    out = f"outs: [{{path: o, hash: md5, md5: {MD5}}}]"
    files = Files(
        {
            "meta/x.dvc": f"wdir: ../data\nouts:\n- path: ./x\n  md5: {MD5}\n",
            "p/dvc.lock": f"schema: '2.0'\nstages:\n  s: {{{out}}}\n  each@1: {{{out}}}\n",
            "p/dvc.yaml": "stages:\n  s: {wdir: work, cmd: x}\n  each: {do: {wdir: ../each}}\n",
            "q/dvc.lock": f"old: {{{out}}}\n",
        }
    )
    for path, pointer in [
        ("data/x", "meta/x.dvc"),
        ("p/work/o", "p/dvc.lock"),
        ("each/o", "p/dvc.lock"),
        ("q/o", "q/dvc.lock"),
    ]:
        assert find(files, path)[0].pointer == pointer


def test_what_is_near_is_named() -> None:
    files = Files({f"d/{n}.dvc": f"outs:\n- md5: {MD5}\n  path: '{n}'\n" for n in range(12)})
    with pytest.raises(UsageError, match=r"outputs below it: d/0, .* and 2 more"):
        find(files, "d")
    with pytest.raises(UsageError, match="did you mean d/11"):
        find(files, "d/111")
    with pytest.raises(UsageError, match="names no output"):
        find(files, "")


@pytest.mark.parametrize(
    "text",
    [
        "outs: 5",
        "outs:\n- 5",
        "outs:\n- {md5: x}",
        "- a",
        "a: [",
        "\x00",
        "outs: {path: a}",
        "stages: 5",
        "[" * 100_000,
        "a: &a [*a]\nouts: *a",
    ],
)
def test_a_file_that_says_nothing_does_not_hide_the_others(text: str) -> None:
    good = f"outs:\n- md5: {MD5}\n  path: a\n"
    files = Files({"bad.dvc": text, "dvc.lock": text, "good.dvc": good})
    assert find(files, "a")[0].pointer == "good.dvc"
    with pytest.raises(UsageError, match="DVC tracks no 'b'"):
        find(files, "b")


def test_a_pointer_that_cannot_be_read_is_named() -> None:
    with pytest.raises(UsageError, match=r"(?s)not readable:.*'bad.dvc'"):
        find(Files({"bad.dvc": "outs: 5"}), "b")


@pytest.mark.parametrize(
    "facts",
    ["", "md5: ../../../etc/passwd", "etag: x", "md5: " + "A" * 32, f"md5: {MD5}\n  cache: false"],
)
def test_an_output_without_an_md5_is_refused(facts: str) -> None:
    found, _ = find(Files({"a.dvc": f"outs:\n- path: a\n  {facts}\n"}), "a")
    with pytest.raises(DataError, match="records no md5"):
        checked(found)


def test_an_output_with_its_files_needs_no_md5() -> None:
    text = f"outs:\n- path: a\n  files: [{{relpath: x, md5: {MD5}}}]\n"
    assert checked(find(Files({"a.dvc": text}), "a")[0]).files[0]["relpath"] == "x"
