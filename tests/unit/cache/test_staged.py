"""cache/staged.py: what is here, and whether it is still what was verified."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from stager.cache import staged, staging
from stager.cache.folders import Folders
from stager.cache.staged import Staged
from tests.unit.cache.test_staging import filled, receipt_of
from tests.unit.examples import TREE


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """An empty cache."""
    return Folders(tmp_path / "cache")


def stage(folders: Folders, name: str = "alpaca", version: str = "v1") -> Staged:
    """A version in the cache."""
    import dataclasses

    files = filled(folders.staging(TREE))
    receipt = dataclasses.replace(receipt_of(files), name=name, version=version)
    staging.publish(folders, folders.staging(TREE), receipt, b"placement")
    found = staged.find(folders, name, version)
    assert found is not None
    return found


def test_an_empty_cache_holds_nothing(folders: Folders) -> None:
    assert staged.find(folders, "alpaca", "v1") is None
    assert list(staged.everything(folders)) == []


def test_everything_is_listed_by_name_and_version(folders: Folders) -> None:
    for name, version in (("team/b", "v2"), ("team/b", "v1"), ("a", "cleaned")):
        stage(folders, name, version)
    found = [one.reference for one in staged.everything(folders)]
    assert found == ["a@cleaned", "team/b@v1", "team/b@v2"]


def test_T4_a_folder_without_its_receipt_is_no_version(folders: Folders) -> None:
    stage(folders)
    folders.receipt("alpaca", "v1").unlink()
    assert staged.find(folders, "alpaca", "v1") is None
    assert list(staged.everything(folders)) == []


def test_a_receipt_without_its_folder_is_no_version(folders: Folders) -> None:
    staging.discard(stage(folders).folder)
    assert staged.find(folders, "alpaca", "v1") is None


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b'{"format": 9}'])
def test_T44_a_damaged_receipt_is_no_version(folders: Folders, data: bytes) -> None:
    stage(folders)
    folders.receipt("alpaca", "v1").write_bytes(data)
    assert staged.find(folders, "alpaca", "v1") is None


def test_a_receipt_of_another_version_is_no_proof(folders: Folders) -> None:
    stage(folders)
    stage(folders, version="v2")
    data = folders.receipt("alpaca", "v1").read_bytes()
    folders.receipt("alpaca", "v2").write_bytes(data)
    assert staged.find(folders, "alpaca", "v2") is None


def test_T32_an_edit_in_place_is_noticed(folders: Folders) -> None:
    found = stage(folders)
    assert found.is_intact()
    path = found.folder / "a"
    os.chmod(path, 0o644)  # root needs no permission; this test may not be root
    with path.open("r+b") as file:
        file.write(b"X")
    assert not found.is_intact()


def test_a_version_that_vanished_is_not_intact(folders: Folders) -> None:
    found = stage(folders)
    staging.discard(found.folder)
    assert not found.is_intact()


def test_a_pin_is_there_until_it_is_lifted(folders: Folders) -> None:
    for pinned in (True, True, False, False):
        staged.pin(folders, _found(folders), pinned)
        assert _found(folders).pinned is pinned


def _found(folders: Folders) -> Staged:
    return staged.find(folders, "alpaca", "v1") or stage(folders)


def test_last_used_is_when_it_was_asked_for(folders: Folders) -> None:
    found = stage(folders)
    os.utime(found.folder, (2_000_000, 1_000_000))
    assert found.last_used() == 1_000_000
    found.touch()
    assert found.last_used() == pytest.approx(time.time(), abs=60)


def test_last_used_is_not_disturbed_by_a_walk(folders: Folders) -> None:
    """On relatime, what lists a folder moves its access time."""
    found = stage(folders)
    for when in (1_000_000, time.time() - 5):
        os.utime(found.folder, (when, when))
        before = found.last_used()
        assert found.is_intact()
        assert len(list(found.folder.rglob("*"))) > 0
        (found.folder / "a").read_bytes()
        assert found.last_used() == before
