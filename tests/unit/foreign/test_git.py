"""foreign/git.py: the repository and revision that were meant, and nothing taken for an option."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from stager.errors import StagerError, UsageError
from stager.foreign.git import (
    Address,
    copy_blobs,
    open_local,
    opened,
    parse_address,
    without_credentials,
)
from tests.support.foreign import Project, git_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two commits, of which the first has the tag v1, and a folder."""
    project = git_project(tmp_path / "project")
    (project.folder / "sub").mkdir()
    (project.folder / "sub" / "a").write_bytes(b"one")
    project.commit()
    project.git("tag", "--annotate", "-m", "tagged", "v1")
    (project.folder / "sub" / "a").write_bytes(b"two")
    project.commit()
    return project


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("https://host/org/repo", Address("https://host/org/repo")),
        ("https://host/org/repo@v1", Address("https://host/org/repo", "v1")),
        ("https://me:p@host/repo@a/b", Address("https://me:p@host/repo", "a/b")),
        ("https://host/repo@pkg@1.0", Address("https://host/repo", "pkg@1.0")),
        ("ssh://git@host:22/repo.git@v1", Address("ssh://git@host:22/repo.git", "v1")),
        ("git@host:org/repo.git", Address("git@host:org/repo.git")),
        ("git@host:org/repo.git@main", Address("git@host:org/repo.git", "main")),
    ],
)
def test_addresses(typed: str, expected: Address) -> None:
    assert parse_address(typed) == expected
    assert not expected.is_local


def test_a_folder_that_exists_is_never_cut(tmp_path: Path) -> None:
    for name in ("repo", "repo@v1", "team@x/repo"):
        (tmp_path / name).mkdir(parents=True)
    for name, rev in (("repo", ""), ("repo@v1", ""), ("repo", "v2"), ("repo@v1", "v2")):
        typed = f"{tmp_path}/{name}{'@' + rev if rev else ''}"
        assert parse_address(typed) == Address(f"{tmp_path}/{name}", rev)
    assert parse_address(f"{tmp_path}/team@x/repo@a@b").rev == "a@b"
    assert parse_address(f"{tmp_path}/repo").is_local


@pytest.mark.parametrize("typed", ["nowhere", "nowhere@v1", "@v1", ""])
def test_what_is_no_address(typed: str) -> None:
    with pytest.raises(UsageError, match="neither a folder nor a URL"):
        parse_address(typed)


@pytest.mark.parametrize(
    ("repo", "named"),
    [
        ("https://me:secret@host/org/repo.git", "https://host/org/repo.git"),
        ("https://secret@host/repo", "https://host/repo"),
        ("https://host/repo?private_token=secret", "https://host/repo"),
        ("http://a@b:secret@host/repo", "http://host/repo"),
        ("ssh://git@host/repo", "ssh://git@host/repo"),
        ("ssh://git:secret@host/repo", "ssh://git@host/repo"),
        ("git@host:org/repo", "git@host:org/repo"),
        ("file:///home-of/somebody/repo", "repo"),
        ("somewhere/somebody/repo", "repo"),
    ],
)
def test_no_secret_and_no_path_of_this_node_is_named(repo: str, named: str) -> None:
    assert without_credentials(repo) == named


def test_revisions(project: Project) -> None:
    repository = open_local(str(project.folder))
    first = project.git("rev-parse", "v1^{commit}").strip()
    head = project.git("rev-parse", "HEAD").strip()
    assert repository.commit("v1") == repository.commit("HEAD~1") == first
    assert repository.commit("main") == repository.commit(head[:8]) == head
    for rev in ("nope", "--all", "-h", "", "v1:sub", "HEAD^{tree}", "a b\nc"):
        with pytest.raises(UsageError, match="no revision"):
            repository.commit(rev)


def test_objects_by_path(project: Project) -> None:
    repository = open_local(str(project.folder))
    commit = repository.commit("HEAD")
    blob = repository.object_at(commit, "sub/a")
    assert (repository.kind(blob), repository.kind(repository.object_at(commit, "sub"))) == (
        "blob",
        "tree",
    )
    assert repository.object_at(commit, "none") == ""
    below = open_local(str(project.folder / "sub"))
    assert below.prefix == "sub/"
    assert below.object_at(commit, "a") == blob
    assert below.object_at(commit, "") == repository.object_at(commit, "sub")
    entries = list(below.entries(repository.object_at(commit, "")))
    assert [(entry.path, entry.size, entry.object_id) for entry in entries] == [("sub/a", 3, blob)]


def test_blobs_are_written_out_as_they_are(project: Project, tmp_path: Path) -> None:
    data = [bytes([n]) * size for n, size in enumerate((0, 1, 3_000_000))] + [b"\n\n", b"x\n"]
    for number, content in enumerate(data):
        (project.folder / str(number)).write_bytes(content)
    project.commit()
    repository = open_local(str(project.folder))
    ids = [repository.object_at("HEAD", str(number)) for number in range(len(data))]
    (tmp_path / "out").mkdir()
    copy_blobs(repository, ids, tmp_path / "out")
    assert [(tmp_path / "out" / name).read_bytes() for name in ids] == data
    head = b"blob %d\0" % len(data[2])
    assert ids[2] == hashlib.sha1(head + data[2]).hexdigest()


def test_an_object_that_git_lacks_is_said(project: Project, tmp_path: Path) -> None:
    with pytest.raises(StagerError, match=r"git has no object f{40}"):
        copy_blobs(open_local(str(project.folder)), ["f" * 40], tmp_path)


@pytest.mark.parametrize("rev", ["", "v1", "main", "short", "whole"])
def test_a_url_is_fetched_at_any_kind_of_revision(
    project: Project, tmp_path: Path, rev: str
) -> None:
    first = project.git("rev-parse", "v1^{commit}").strip()
    head = project.git("rev-parse", "HEAD").strip()
    typed = {"short": first[:9], "whole": first}.get(rev, rev)
    address = Address(f"file://{project.folder}", typed)
    repository, commit = opened(address, tmp_path / "clone")
    assert commit == (head if rev in ("", "main") else first)
    blob = repository.object_at(commit, "sub/a")
    assert repository.run("cat-file", "blob", blob) == (b"two" if commit == head else b"one")


def test_what_git_says_names_no_secret(tmp_path: Path) -> None:
    address = Address(f"http://me:hunter2@127.0.0.1:9/{tmp_path.name}", "v1")
    with pytest.raises(UsageError) as caught:
        opened(address, tmp_path / "clone")
    assert "hunter2" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)


def test_a_git_that_repeats_the_url_names_no_secret_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text('#!/bin/sh\ncase "$*" in *hunter2*) echo "fatal: $*" >&2; exit 1;; esac\n')
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}:/usr/bin:/bin")
    with pytest.raises(UsageError) as caught:
        opened(Address("https://me:hunter2@host/x", "v1"), tmp_path / "clone")
    assert "https://host/x" in str(caught.value) and "hunter2" not in str(caught.value)


def test_the_variables_of_a_hook_do_not_lead_elsewhere(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = git_project(tmp_path / "other")
    other.commit()
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))
    head = open_local(str(project.folder)).commit("HEAD")
    assert head == project.git("rev-parse", "HEAD").strip()


def test_a_folder_without_a_repository(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a Git repository"):
        open_local(str(tmp_path))
