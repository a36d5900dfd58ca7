"""foreign/hf.py: what the hub's own client left on the disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stager.errors import UsageError
from stager.foreign.hf import files_of
from tests.support.foreign import FIRST, SECOND, hub_etag, hub_local_dir, hub_snapshot

FILES = {"config.json": b"{}\n", "data/train.parquet": b"x" * 5000, ".gitattributes": b"* text\n"}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """`datasets--org--name` with one snapshot."""
    repo = tmp_path / "hub" / "datasets--org--name"
    hub_snapshot(repo, FILES, FIRST)
    return repo


@pytest.mark.parametrize("where", ["repo", "snapshot"])
def test_a_snapshot_with_its_promises(repo: Path, where: str) -> None:
    found = files_of(repo if where == "repo" else repo / "snapshots" / FIRST)
    assert {file.path: Path(file.location).read_bytes() for file in found.files} == FILES
    assert {file.path: file.algorithm for file in found.files} == {
        "config.json": "git-sha1",
        "data/train.parquet": "sha256",
        ".gitattributes": "git-sha1",
    }
    assert {file.path: file.expected for file in found.files} == {
        name: hub_etag(data) for name, data in FILES.items()
    }
    assert found.provenance == {"repo": "org/name", "repo_type": "dataset", "rev": FIRST}
    assert found.findings == found.warnings == ()


def test_which_snapshot(repo: Path) -> None:
    hub_snapshot(repo, {"config.json": b"2"}, SECOND)
    assert files_of(repo).provenance["rev"] == SECOND  # refs/main
    (repo / "refs" / "main").unlink()
    with pytest.raises(UsageError, match=f"{FIRST}, {SECOND}"):
        files_of(repo)
    assert files_of(repo / "snapshots" / FIRST).provenance["rev"] == FIRST


def test_a_reference_that_leads_elsewhere_is_not_followed(repo: Path) -> None:
    (repo / "refs" / "main").write_text("../../../elsewhere")
    assert files_of(repo).provenance["rev"] == FIRST


def test_links_that_lead_elsewhere_are_named(repo: Path, tmp_path: Path) -> None:
    (tmp_path / ("a" * 64)).write_bytes(b"secret")
    snapshot = repo / "snapshots" / FIRST
    os.symlink(tmp_path / ("a" * 64), snapshot / "outside")
    os.symlink("../../blobs/none", snapshot / "dangling")
    os.symlink(tmp_path, snapshot / "folder")
    os.symlink("loop", snapshot / "loop")
    found = files_of(snapshot)
    assert len(found.findings) == 4
    assert {file.path for file in found.files} == set(FILES)


def test_a_file_that_is_no_link_promises_nothing(repo: Path) -> None:
    (repo / "snapshots" / FIRST / "copied").write_bytes(b"x")
    (file,) = (file for file in files_of(repo).files if file.path == "copied")
    assert file.algorithm == file.expected == ""


def test_a_download_that_is_not_finished_is_told(repo: Path) -> None:
    (repo / "blobs" / f"{'b' * 64}.incomplete").write_bytes(b"x")
    (warning,) = files_of(repo).warnings
    assert "not finished" in warning


def test_a_local_folder(tmp_path: Path) -> None:
    folder = hub_local_dir(tmp_path / "mine", FILES, FIRST)
    (folder / "own.txt").write_bytes(b"mine")
    (folder / ".cache" / "other").write_bytes(b"kept")
    found = files_of(folder)
    kinds = {file.path: file.algorithm for file in found.files}
    assert kinds == {
        "config.json": "git-sha1",
        "data/train.parquet": "sha256",
        ".gitattributes": "git-sha1",
        "own.txt": "",
        ".cache/other": "",
    }
    assert found.provenance == {"repo": "mine", "rev": FIRST}
    assert found.findings == ()


def test_offenders_of_a_local_folder_are_all_named(tmp_path: Path) -> None:
    folder = hub_local_dir(tmp_path / "mine", FILES, FIRST)
    hub_local_dir(folder, {"stale.bin": b"old"}, SECOND)
    (folder / "config.json").unlink()
    notes = folder / ".cache" / "huggingface" / "download"
    (notes / "broken.metadata").write_text("nothing\n")
    os.symlink("/etc/hostname", folder / "out")
    os.mkfifo(folder / "pipe")
    found = files_of(folder)
    assert len(found.findings) == 5
    for name in ("stale.bin", "config.json", "broken", "out", "pipe"):
        assert sum(finding.startswith(f"'{name}': ") for finding in found.findings) == 1


def test_other_folders_are_not_taken_for_a_download(tmp_path: Path) -> None:
    (tmp_path / "models--a--b").mkdir()
    (tmp_path / "snapshots" / FIRST).mkdir(parents=True)
    (tmp_path / "a-file").touch()
    for name in ("none", "models--a--b", f"snapshots/{FIRST}", "a-file", "."):
        with pytest.raises(UsageError):
            files_of(tmp_path / name)
