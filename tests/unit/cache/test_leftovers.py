"""cache/leftovers.py: what killed runs left goes; what anybody may need does not."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from stager.cache import leftovers, staged
from stager.cache.folders import Folders
from stager.cache.leftovers import STALE_SECONDS, Leftover, clear, forget_placed
from stager.cache.locks import exclusive
from stager.cache.scratch import scratch
from stager.cache.usage import measure
from stager.events import ignore
from tests.unit.cache.test_staged import stage

FAR = time.time() + STALE_SECONDS + 7200


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """A cache with a version, and one of everything that can be left."""
    made = Folders(tmp_path / "cache")
    stage(made)
    for path in (
        made.staging("blake3:00") / "deep",
        made.staging("blake3:11").with_name(".blake3-11.removed-77-ab"),
        made.dataset("alpaca") / ".v7.removed-77-ab",
        made.version("alpaca", "v8"),
        made.version("alpaca", "v9"),
    ):
        path.mkdir(parents=True)
        (path / "file").write_bytes(b"x" * 5000)
    (made.dataset("alpaca") / ".v6.json.77-abcd").write_bytes(b"{")
    made.placement("alpaca", "v8").write_bytes(b"x")
    made.receipt("alpaca", "v9").write_bytes(b'{"format": 2}')
    return made


def found(folders: Folders) -> list[Leftover]:
    """What may go now."""
    versions = {one.folder for one in staged.everything(folders)}
    return list(leftovers.find(folders, measure(folders), versions))


def kinds(folders: Folders) -> list[str]:
    """Their kinds."""
    return sorted(one.kind for one in found(folders))


def test_only_what_is_half_removed_goes_at_once(folders: Folders) -> None:
    assert kinds(folders) == [leftovers.REMOVED, leftovers.REMOVED]


def test_after_an_hour_and_after_a_week(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers.time, "time", lambda: FAR - STALE_SECONDS)
    assert leftovers.WRITTEN in kinds(folders)
    assert leftovers.UNFINISHED not in kinds(folders)
    monkeypatch.setattr(leftovers.time, "time", lambda: FAR)
    assert set(kinds(folders)) == {
        leftovers.REMOVED,
        leftovers.WRITTEN,
        leftovers.UNFINISHED,
        leftovers.UNPROVED,
    }
    for leftover in found(folders):
        assert clear(folders, leftover)
    assert found(folders) == []
    assert {path.name for path in folders.dataset("alpaca").iterdir()} == {
        "v1",
        "v1.json",
        "v1.placement",
        "v9",  # somebody can read its receipt, if not this stager
        "v9.json",
    }


def test_work_that_goes_on_is_not_old(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    os.utime(folders.staging("blake3:00") / "deep" / "file", (FAR, FAR))
    monkeypatch.setattr(leftovers.time, "time", lambda: FAR)
    assert leftovers.UNFINISHED not in kinds(folders)


def test_the_scratch_folder_of_a_living_run_is_not_touched(folders: Folders) -> None:
    """However old: it is held by a lock on itself."""
    with scratch(folders, ignore) as folder:
        assert not clear(folders, Leftover(folder, leftovers.UNFINISHED))
        assert folder.is_dir()
    folder.mkdir()
    assert clear(folders, Leftover(folder, leftovers.UNFINISHED))


def test_a_staging_folder_whose_lock_is_held_is_not_touched(folders: Folders) -> None:
    folder = folders.staging("blake3:00")
    leftover = Leftover(folder, leftovers.UNFINISHED)
    with exclusive(folders.tree_lock("blake3:00"), ignore):
        assert not clear(folders, leftover)
    assert (folder / "deep" / "file").exists()
    assert clear(folders, leftover)
    assert not folder.exists()


@pytest.mark.parametrize("claim", ["receipt", "pin"])
def test_what_became_a_version_meanwhile_stays(folders: Folders, claim: str) -> None:
    leftover = Leftover(folders.version("alpaca", "v8"), leftovers.UNPROVED)
    getattr(folders, claim)("alpaca", "v8").touch()
    assert not clear(folders, leftover)
    assert (leftover.path / "file").exists()


def test_destinations_that_are_gone_are_forgotten_after_a_week(
    folders: Folders, tmp_path: Path
) -> None:
    places = {name: tmp_path / name for name in ("here", "gone", "lately")}
    places["here"].mkdir()
    for name, place in places.items():
        record = folders.placed(place)
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(json.dumps({"path": str(place)}))
        if name != "lately":
            os.utime(record, (1, 1))
    assert forget_placed(folders, dry_run=True) == [str(places["gone"])]
    assert forget_placed(folders) == [str(places["gone"])]
    assert forget_placed(folders) == []
    assert folders.placed(places["here"]).exists() and folders.placed(places["lately"]).exists()


def test_nothing_was_ever_placed(tmp_path: Path) -> None:
    assert forget_placed(Folders(tmp_path)) == []
