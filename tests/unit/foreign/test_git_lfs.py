"""foreign/git_lfs.py: pointers by the specification, and what stands in their place."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.errors import UsageError
from stager.foreign.git import open_local
from stager.foreign.git_lfs import (
    Pointer,
    fetch_arguments,
    files_of,
    missing,
    object_place,
    parse_pointer,
    storage_of,
)
from tests.support.foreign import Project, git_project, lfs_pointer

OID = hashlib.sha256(b"x").hexdigest()
HEAD = b"version https://git-lfs.github.com/spec/v1\n"
GOOD = HEAD + f"oid sha256:{OID}\nsize 1\n".encode()


def test_a_pointer() -> None:
    assert parse_pointer(GOOD) == Pointer(OID, 1)
    assert parse_pointer(GOOD.replace(b"git-lfs.github", b"hawser.github")) == Pointer(OID, 1)
    assert parse_pointer(HEAD + b"a.b-c hello there\n" + GOOD[len(HEAD) :]) == Pointer(OID, 1)


@given(st.binary(min_size=32, max_size=32), st.integers(0, 2**63 - 1))
def test_a_pointer_says_what_was_written(oid: bytes, size: int) -> None:
    assert parse_pointer(lfs_pointer(oid.hex(), size)) == Pointer(oid.hex(), size)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello\n",
        b"version 1\n",
        b" " + GOOD,
        GOOD.replace(b"version", b"Version"),
        GOOD + b"z" + b"z" * 1024 + b" 1\n",  # 1024 bytes and more are no pointer
    ],
)
def test_ordinary_files(data: bytes) -> None:
    assert parse_pointer(data) is None


@pytest.mark.parametrize(
    "data",
    [
        GOOD[:-1],
        GOOD + b"z 1",
        GOOD + b"\n",
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b"sha256:", b"sha1:"),
        GOOD.replace(OID.encode(), OID.upper().encode()),
        GOOD.replace(OID.encode(), b"../" * 21 + b"x"),
        GOOD.replace(b"size 1", b"size -1"),
        GOOD.replace(b"size 1", b"size 01"),
        GOOD.replace(b"size 1", b"size 1 "),
        GOOD.replace(b"size 1", b"size  1"),
        GOOD.replace(b"size 1\n", b""),
        GOOD + b"size 1\n",
        HEAD + f"size 1\noid sha256:{OID}\n".encode(),
        HEAD + b"ext-0-foo sha256:" + OID.encode() + b"\n" + GOOD[len(HEAD) :],
        GOOD.replace(b"spec/v1", b"spec/v2"),
        GOOD.replace(b"size", b"Size"),
        HEAD,
    ],
)
def test_what_begins_as_a_pointer_and_is_none_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        parse_pointer(data)


@given(st.binary(max_size=200), st.integers(0, len(GOOD)))
def test_no_bytes_break_the_parser(noise: bytes, at: int) -> None:
    try:
        found = parse_pointer(GOOD[:at] + noise + GOOD[at:])
    except ValueError:
        return
    assert found is None or len(found.oid) == 64


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A pointer, an ordinary file, an empty one, links, and a pointer that is none."""
    project = git_project(tmp_path / "project")
    folder = project.folder / "data"
    (folder / "sub").mkdir(parents=True)
    (folder / "large").write_bytes(lfs_pointer(OID, 1))
    (folder / "sub" / "plain").write_bytes(b"plain\n")
    (folder / "empty").write_bytes(b"")
    os.symlink("../large", folder / "sub" / "link")
    os.symlink("sub", folder / "folder")
    project.commit()
    return project


def test_files_of_a_commit(project: Project) -> None:
    repository = open_local(str(project.folder))
    found = files_of(repository, repository.commit("HEAD"), "data")
    by_path = {file.path: file for file in found.files}
    assert set(by_path) == {
        "large",
        "empty",
        "sub/plain",
        "sub/link",
        "folder/plain",
        "folder/link",
    }
    large = by_path["large"]
    assert (large.algorithm, large.expected, large.size, large.key) == ("sha256", OID, 1, "")
    assert large.location == object_place(storage_of(repository), OID)
    assert by_path["sub/link"] == large._replace(path="sub/link")
    plain = by_path["sub/plain"]
    assert (plain.algorithm, plain.expected, plain.location) == ("git-sha1", plain.key, "")
    assert found.findings == ()
    assert {file.path for file in missing(found)} == {"large", "sub/link", "folder/link"}


def test_one_file_of_a_commit(project: Project) -> None:
    repository = open_local(str(project.folder))
    commit = repository.commit("HEAD")
    assert [file.path for file in files_of(repository, commit, "data/large").files] == ["large"]
    (finding,) = files_of(repository, commit, "data/sub/link").findings
    assert finding == "'link': a link that leaves the tree"
    with pytest.raises(UsageError, match="no 'none'"):
        files_of(repository, commit, "none")


def test_offenders_are_all_named(project: Project) -> None:
    folder = project.folder / "data"
    (folder / "bad").write_bytes(GOOD[:-1])
    os.symlink("../../outside", folder / "out")
    os.symlink("/etc/hostname", folder / "absolute")
    os.symlink("x" * 4000, folder / "long")
    other = git_project(project.folder.parent / "other")
    other.commit()
    project.git(
        "-c", "protocol.file.allow=always", "submodule", "add", "-q", other.folder, "data/mod"
    )
    project.commit()
    repository = open_local(str(project.folder))
    found = files_of(repository, repository.commit("HEAD"), "data")
    assert len(found.findings) == 5
    for name in ("bad", "out", "absolute", "long", "mod"):
        assert sum(finding.startswith(f"'{name}': ") for finding in found.findings) == 1


def test_the_storage_of_worktrees_bare_copies_and_settings(
    project: Project, tmp_path: Path
) -> None:
    own = os.path.realpath(project.folder / ".git" / "lfs" / "objects")
    project.git("worktree", "add", "-q", tmp_path / "second", "-b", "second")
    project.git("clone", "-q", "--bare", project.folder, tmp_path / "bare.git")
    places = {
        str(project.folder): own,
        str(project.folder / "data"): own,
        str(tmp_path / "second"): own,
        str(tmp_path / "bare.git"): os.path.realpath(tmp_path / "bare.git" / "lfs" / "objects"),
    }
    for folder, place in places.items():
        assert os.path.realpath(storage_of(open_local(folder))) == place
    project.git("config", "lfs.storage", "elsewhere")
    assert os.path.realpath(storage_of(open_local(str(project.folder)))).endswith(
        ".git/elsewhere/objects"
    )
    project.git("config", "lfs.storage", tmp_path / "absolute")
    assert storage_of(open_local(str(project.folder))) == str(tmp_path / "absolute" / "objects")


def test_what_git_lfs_is_asked_for(project: Project) -> None:
    repository = open_local(str(project.folder / "data"))
    arguments = ["lfs", "fetch", "--include=data/large,data/large/**", "origin", "c"]
    assert fetch_arguments(repository, "c", "large") == arguments
    project.git("remote", "add", "team", "https://host/x")
    assert fetch_arguments(repository, "c", "a,b*") == ["lfs", "fetch", "team", "c"]
