"""`stager import --hf DIR NAME`, over the layouts that the hub documents."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.integration.conftest import SHARED
from tests.integration.test_import import damage, imported, no_version, provenance
from tests.support import corpus
from tests.support.command import Stager, contents
from tests.support.foreign import FIRST, hub_etag, hub_local_dir, hub_snapshot


@pytest.fixture
def files(tmp_path: Path) -> dict[str, bytes]:
    """A large file, which the hub names by sha256, and small ones."""
    corpus.jsonl(tmp_path / "train.jsonl", 12_000_000, seed=1)
    large = (tmp_path / "train.jsonl").read_bytes()
    return {"data/train.jsonl": large, "README.md": b"# x\n", ".gitattributes": b"* text\n"}


def test_a_snapshot(stager: Stager, files: dict[str, bytes], tmp_path: Path) -> None:
    snapshot = hub_snapshot(tmp_path / "hub" / "models--org--name", files, FIRST)
    report, found = imported(stager, "--hf", snapshot, "m")
    assert found == files
    assert (report["checked"], report["unchecked"]) == (3, 0)
    assert provenance(stager, "m@v1") == {
        "kind": "import-hf",
        "repo": "org/name",
        "repo_type": "model",
        "rev": FIRST,
    }


def test_a_local_folder_with_a_file_of_the_users_own(
    local: Stager, files: dict[str, bytes], tmp_path: Path
) -> None:
    folder = hub_local_dir(tmp_path / "mine", files, FIRST)
    (folder / "own.txt").write_bytes(b"mine")
    report, found = imported(local, "--hf", folder, "m")
    assert found == {**files, "own.txt": b"mine"}
    assert (report["checked"], report["unchecked"]) == (3, 1)
    assert "1 without a digest" in local.ok("import", "--hf", folder, "n").stderr


@pytest.mark.parametrize("layout", ["snapshot", "local-dir"])
def test_every_file_that_is_not_its_etag_is_named(
    local: Stager, files: dict[str, bytes], tmp_path: Path, layout: str
) -> None:
    wrong = ("data/train.jsonl", "README.md")
    if layout == "snapshot":
        folder = hub_snapshot(tmp_path / "hub" / "datasets--org--name", files, FIRST)
    else:
        folder = hub_local_dir(tmp_path / "mine", files, FIRST)
    for name in wrong:
        damage((folder / name).resolve())
    result = local.run("import", "--hf", folder, "m")
    assert result.code == 50
    for name in wrong:
        assert f"'{name}': " in result.stderr and hub_etag(files[name]) in result.stderr
    assert ".gitattributes" not in result.stderr
    assert no_version(local)


def test_a_download_that_is_not_finished_is_told(
    local: Stager, files: dict[str, bytes], tmp_path: Path
) -> None:
    snapshot = hub_snapshot(tmp_path / "hub" / "models--org--name", files, FIRST)
    (tmp_path / "hub" / "models--org--name" / "blobs" / f"{'a' * 64}.incomplete").touch()
    assert "not finished" in local.ok("import", "--hf", snapshot, "m").stderr


def test_an_ordinary_folder_is_refused(local: Stager, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    result = local.run("import", "--hf", tmp_path / "x", "m")
    assert result.code == 2 and "stager push" in result.stderr


def test_a_real_tokenizer(local: Stager, tmp_path: Path) -> None:
    folder = SHARED / "tokenizers" / "qwen3"
    if not folder.is_dir():
        pytest.skip("the shared inputs are not beside this checkout (tokenizers/qwen3)")
    snapshot = hub_snapshot(tmp_path / "models--Qwen--Qwen3", contents(folder), FIRST)
    report, found = imported(local, "--hf", snapshot, "qwen3")
    assert found == contents(folder)
    assert report["unchecked"] == 0
    shutil.rmtree(snapshot)
