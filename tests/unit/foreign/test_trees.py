"""foreign/trees.py: a folder and a commit of it say the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stager.foreign.git import open_local
from stager.foreign.trees import CommitTree, FolderTree, Tree, is_pointer
from tests.support.foreign import git_project

FILES = ("a.dvc", "sub/b.dvc", "sub/dvc.lock", "sub/dvc.yaml", "other", "deep/er/c.dvc")


@pytest.fixture(params=["folder", "commit", "subfolder"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Tree:
    """The same files, as a folder, as a commit, and as a folder of a commit."""
    project = git_project(tmp_path / "project")
    root = project.folder / "in" if request.param == "subfolder" else project.folder
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    project.commit()
    if request.param == "folder":
        return FolderTree(str(root))
    repository = open_local(str(root))
    return CommitTree(repository, repository.commit("HEAD"))


def test_files_are_read_by_path(tree: Tree) -> None:
    assert tree.read("sub/dvc.yaml") == b"sub/dvc.yaml"
    assert tree.read("sub") is tree.read("none") is tree.read("other/x") is None


def test_pointers_are_found_wherever_they_are(tree: Tree) -> None:
    expected = {name: name.encode() for name in FILES if is_pointer(os.path.basename(name))}
    assert dict(tree.pointers()) == expected


def test_tracked_folders_and_other_repositories_are_not_walked(tmp_path: Path) -> None:
    for name in ("data.dvc", "data/x.dvc", "other/.dvc/config", "other/y.dvc", ".dvc/tmp/z.dvc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    assert [path for path, _ in FolderTree(str(tmp_path)).pointers()] == ["data.dvc"]


def test_what_is_a_pointer() -> None:
    assert [
        name for name in ("a.dvc", "dvc.lock", ".dvc", "dvc.yaml", "a.dvc.x") if is_pointer(name)
    ] == [
        "a.dvc",
        "dvc.lock",
    ]
