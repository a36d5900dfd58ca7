"""`stager import --git-lfs REPO[@REV] PATH NAME`, with and without the real client."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.test_import import damage, imported, no_version, provenance
from tests.integration.test_push import make
from tests.support import corpus
from tests.support.command import Stager, contents
from tests.support.foreign import Project, git_project, lfs_pointer

needs_client = pytest.mark.skipif(
    shutil.which("git-lfs") is None, reason="git-lfs is not installed"
)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, bytes]:
    """Two files for LFS, one of them large, and two that Git itself keeps."""
    corpus.jsonl(tmp_path / "train.jsonl", 12_000_000, seed=1)
    large = (tmp_path / "train.jsonl").read_bytes()
    return {
        "train.jsonl": large,
        "sub/a.bin": b"\0" * 5000,
        "README": b"read\r\nme\n",
        "empty": b"",
    }


@pytest.fixture
def project(tmp_path: Path, files: dict[str, bytes]) -> Project:
    """`data/` as a clone with LFS has it: pointers in Git, objects beside."""
    project = git_project(tmp_path / "project")
    pointed = {name: data for name, data in files.items() if name.endswith(("l", "n"))}
    oids = {name: hashlib.sha256(data).hexdigest() for name, data in pointed.items()}
    for name, oid in oids.items():
        make(place(project, oid).parent, {oid: files[name]})
    pointers = {name: lfs_pointer(oid, len(files[name])) for name, oid in oids.items()}
    make(project.folder / "data", {**files, **pointers})
    project.commit()
    return project


def place(project: Project, oid: str) -> Path:
    """Where LFS keeps an object."""
    return project.folder / ".git" / "lfs" / "objects" / oid[:2] / oid[2:4] / oid


def test_pointers_stand_for_their_objects(
    stager: Stager, project: Project, files: dict[str, bytes]
) -> None:
    project.git("remote", "add", "origin", "https://me:hunter2@host/org/repo.git")
    report, found = imported(stager, "--git-lfs", project.folder, "data", "d")
    assert found == files
    assert (report["checked"], report["unchecked"]) == (4, 0)
    assert provenance(stager, "d@v1") == {
        "kind": "import-git-lfs",
        "repo": "project",
        "origin": "https://host/org/repo.git",
        "rev": project.git("rev-parse", "HEAD").strip(),
        "path": "data",
    }
    assert list((stager.cache / "staging").iterdir()) == []


def test_what_is_imported_is_what_a_push_would_make(
    local: Stager, project: Project, files: dict[str, bytes], tmp_path: Path
) -> None:
    tree = local.json("push", make(tmp_path / "checkout", files), "pushed")["tree"]
    assert local.json("import", "--git-lfs", project.folder, "data/", "d")["tree"] == tree


def test_the_commit_counts_and_not_the_working_tree(local: Stager, project: Project) -> None:
    make(project.folder / "data", {"README": b"edited"})
    project.git("tag", "v1")
    whole = imported(local, "--git-lfs", f"{project.folder}@v1", ".", "d")[1]
    assert whole["data/README"] == b"read\r\nme\n"
    project.commit()
    for rev, expected in (("v1", b"read\r\nme\n"), ("main", b"edited")):
        how = ("--git-lfs", f"{project.folder}@{rev}", "data/README", "one")
        assert imported(local, *how)[1] == {"README": expected}


def test_links_are_what_they_point_to_and_what_leads_out_is_named(
    local: Stager, project: Project, files: dict[str, bytes]
) -> None:
    os.symlink("../train.jsonl", project.folder / "data" / "sub" / "link")
    project.commit()
    _, found = imported(local, "--git-lfs", project.folder, "data", "d")
    assert found == {**files, "sub/link": files["train.jsonl"]}
    os.symlink("../../outside", project.folder / "data" / "sub" / "out")
    make(project.folder / "data", {"bad": lfs_pointer("0" * 64, 1)[:-1], "A": b"", "a": b""})
    project.commit()
    result = local.run("import", "--git-lfs", project.folder, "data", "e")
    assert result.code == 50
    for name in ("'sub/out'", "'bad'", "'A' and 'a'"):
        assert name in result.stderr


def test_every_object_that_is_not_its_oid_is_named(
    local: Stager, project: Project, files: dict[str, bytes]
) -> None:
    oids = {name: hashlib.sha256(files[name]).hexdigest() for name in ("train.jsonl", "sub/a.bin")}
    for oid in oids.values():
        damage(place(project, oid))
    result = local.run("import", "--git-lfs", project.folder, "data", "d")
    assert result.code == 50
    for name, oid in oids.items():
        assert f"'{name}': sha256: expected {oid}, got" in result.stderr
    assert no_version(local)


def test_an_object_of_another_size_is_named(
    local: Stager, project: Project, files: dict[str, bytes]
) -> None:
    place(project, hashlib.sha256(files["sub/a.bin"]).hexdigest()).write_bytes(b"short")
    result = local.run("import", "--git-lfs", project.folder, "data", "d")
    assert result.code == 50 and "'sub/a.bin': expected 5000 bytes, got 5" in result.stderr


def without_client(tmp_path: Path) -> str:
    """A PATH with git and no git-lfs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for program in ("git", "env"):
        os.symlink(str(shutil.which(program)), folder / program)
    return str(folder)


def test_without_the_client_missing_objects_are_all_named_with_what_to_run(
    local: Stager, project: Project, files: dict[str, bytes], tmp_path: Path
) -> None:
    shutil.rmtree(project.folder / ".git" / "lfs")
    path = without_client(tmp_path)
    result = local.run("import", "--git-lfs", project.folder, "data", "d", PATH=path)
    assert result.code == 50
    for name in ("train.jsonl", "sub/a.bin"):
        assert f"'{name}': LFS object {hashlib.sha256(files[name]).hexdigest()}" in result.stderr
    assert "install git-lfs" in result.stderr and "git lfs fetch --include=data" in result.stderr
    assert no_version(local)


STAND_IN = """\
#!{python}
import os, shutil, sys
open({log!r}, "a").write(" ".join(sys.argv[1:]) + "\\n")
if os.path.isdir({server!r}):
    shutil.copytree({server!r}, ".git/lfs", dirs_exist_ok=True)
"""


def test_missing_objects_are_fetched_by_the_client(
    local: Stager, project: Project, files: dict[str, bytes], tmp_path: Path
) -> None:
    """A program that does what git-lfs does, so that this is tested where it is not installed."""
    server, log = tmp_path / "server", tmp_path / "log"
    shutil.move(project.folder / ".git" / "lfs", server)
    path = without_client(tmp_path)
    client = Path(path) / "git-lfs"
    client.write_text(STAND_IN.format(python=sys.executable, server=str(server), log=str(log)))
    client.chmod(client.stat().st_mode | stat.S_IXUSR)
    how = ("import", "--git-lfs", project.folder, "data", "d")
    report = local.ok(*how, "--dry-run", "--json", PATH=path).json()
    assert report["bytes_raw"] == sum(map(len, files.values())) and not log.exists()
    local.ok(*how, PATH=path)
    commit = project.git("rev-parse", "HEAD").strip()
    assert log.read_text() == f"fetch --include=data,data/** origin {commit}\n"
    local.ok("pull", "d@v1")
    assert contents(local.path("d@v1")) == files
    shutil.rmtree(server)
    shutil.rmtree(project.folder / ".git" / "lfs")
    result = local.run("import", "--git-lfs", project.folder, "data", "e", PATH=path)
    assert result.code == 50 and "the remote does not have them either" in result.stderr


@needs_client
def test_a_repository_that_the_real_client_made(local: Stager, tmp_path: Path) -> None:
    project = git_project(tmp_path / "project")
    project.git("lfs", "install", "--local")
    project.git("lfs", "track", "*.bin")
    expected = {"a.bin": b"\0\1" * 40_000, "sub/b.bin": b"b", "note": b"n\n"}
    make(project.folder / "data", expected)
    project.commit()
    assert imported(local, "--git-lfs", project.folder, "data", "d")[1] == expected


@needs_client
@pytest.mark.parametrize("kind", ["url", "clone", "bare"])
def test_the_real_client_fetches_what_is_missing(local: Stager, tmp_path: Path, kind: str) -> None:
    project = git_project(tmp_path / "project")
    project.git("lfs", "install", "--local")
    project.git("lfs", "track", "*.bin")
    expected = {"a.bin": b"\0\1" * 40_000, "note": b"n\n"}
    make(project.folder / "data", expected)
    project.commit()
    url = f"file://{project.folder}"
    environment = {"GIT_LFS_SKIP_SMUDGE": "1"}
    repo = {"url": url, "clone": str(tmp_path / "clone"), "bare": str(tmp_path / "bare.git")}[kind]
    if kind != "url":
        bare = ["--bare"] if kind == "bare" else []
        command = ["git", "clone", "--quiet", *bare, url, repo]
        subprocess.run(command, check=True, env={**os.environ, **environment}, timeout=60)
    found = imported(local, "--git-lfs", repo, "data", "d")[1]
    assert found == expected
    assert provenance(local, "d@v1")["rev"] == project.git("rev-parse", "HEAD").strip()


def test_a_url_is_cloned(local: Stager, tmp_path: Path) -> None:
    project = git_project(tmp_path / "project")
    make(project.folder, {"a/b": b"1", "c": b"2"})
    project.commit()
    project.git("tag", "v1")
    found = imported(local, "--git-lfs", f"file://{project.folder}@v1", ".", "d")[1]
    assert found == {"a/b": b"1", "c": b"2"}
