"""cache/room.py: the longest unused first, never more than needed, nothing that must stay."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.cache import room as rooms
from stager.cache import staged
from stager.cache.filesystem import free_bytes
from stager.cache.folders import Folders
from stager.cache.leases import leased
from stager.cache.options import CacheOptions
from stager.cache.room import Choice, Room, Shortage
from stager.cache.staged import Staged
from stager.cache.usage import Usage, measure
from stager.events import ignore
from stager.model.receipt import Receipt, Signature
from tests.unit.cache.test_staged import stage
from tests.unit.cache.test_staging import CONTENTS

TAKES = len(CONTENTS) * 4096  # nearly, of a version as `stage` makes it


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """A cache with v1 to v4, asked for in that order."""
    made = Folders(tmp_path / "cache")
    for number in range(1, 5):
        folder = stage(made, version=f"v{number}").folder
        os.utime(folder, (number, number))
    return made


def room(folders: Folders, budget: int, **refused: str) -> Room:
    """An attempt to bring the cache under a budget; refused: version -> why."""

    def judge(found: Staged) -> str:
        return refused.get(found.receipt.version, "")

    return Room(CacheOptions(folders.root, 0, budget), judge, ignore)


def here(folders: Folders) -> list[str]:
    """Labels of the versions that are there."""
    return [one.receipt.version for one in staged.everything(folders)]


def test_the_longest_unused_goes_first_and_no_more_than_needed(folders: Folders) -> None:
    total = measure(folders).total
    for left, budget in ((4, total), (3, total - 1), (3, total - TAKES), (1, total // 3)):
        attempt = room(folders, budget)
        attempt.remove(attempt.choose())
        assert here(folders) == ["v1", "v2", "v3", "v4"][4 - left :]
        assert left == 1 or measure(folders).total <= budget


def test_what_must_stay_is_passed_over_and_said(folders: Folders) -> None:
    staged.pin(folders, next(staged.everything(folders)), True)
    attempt = room(folders, measure(folders).total - 1, v2="no copy")
    with leased(folders, [("alpaca", "v3")]):
        attempt.remove(attempt.choose())
    assert here(folders) == ["v1", "v2", "v3"]
    assert attempt.kept["alpaca@v1"] == "pinned"
    assert attempt.kept["alpaca@v2"] == "no copy"
    assert "leased by" in attempt.kept["alpaca@v3"]


def test_when_all_that_may_go_is_not_enough_that_is_known_before(folders: Folders) -> None:
    attempt = room(folders, 1, v4="no copy")
    assert not attempt.choose().enough
    assert here(folders) == ["v1", "v2", "v3", "v4"]


def test_the_remote_is_asked_of_no_more_versions_than_needed(folders: Folders) -> None:
    asked: list[str] = []

    def judge(found: Staged) -> str:
        asked.append(found.receipt.version)
        return ""

    options = CacheOptions(folders.root, 0, measure(folders).total - 1)
    Room(options, judge, ignore).choose()
    assert asked == ["v1"]


def test_a_lease_that_appears_after_the_choice_is_respected(folders: Folders) -> None:
    attempt = room(folders, measure(folders).total - 1)
    choice = attempt.choose()
    with leased(folders, [("alpaca", "v1")]):
        assert attempt.remove(choice) == []
        assert "leased" in attempt.kept["alpaca@v1"]
        attempt.remove(attempt.choose())
    assert here(folders) == ["v1", "v3", "v4"]


def test_half_removed_folders_go_before_versions(folders: Folders) -> None:
    doomed = folders.dataset("alpaca") / ".v0.removed-1-a"
    doomed.mkdir()
    (doomed / "x").write_bytes(b"x" * 50_000)
    attempt = room(folders, measure(folders).total - 1)
    attempt.remove(attempt.choose())
    assert here(folders) == ["v1", "v2", "v3", "v4"]
    assert not doomed.exists()


def test_the_floor_is_reached_by_what_the_disk_gains(folders: Folders, tmp_path: Path) -> None:
    """v1 is linked elsewhere: its removal gives the disk nothing."""
    for path in (folders.version("alpaca", "v1")).rglob("*"):
        if path.is_file():
            os.link(path, tmp_path / f"kept-{path.name}-{path.stat().st_ino}")
    usage = measure(folders)
    choice = Choice(Shortage(0, 30_000), usage)  # its folders alone are 24 kB
    assert rooms._fill(choice, staged.everything(folders))
    assert [thing.reference for thing in choice.things if isinstance(thing, Staged)] == [
        "alpaca@v2"
    ]
    assert free_bytes(tmp_path) > 0


@given(
    st.dictionaries(
        st.frozensets(st.integers(0, 4), min_size=1), st.integers(1, 1000), max_size=12
    ),
    st.integers(1, 3000),
    st.integers(-5, 3000),
)
def test_a_choice_is_enough_and_minimal_or_nothing_is(
    shares: dict[frozenset[int], int], cache: int, disk: int
) -> None:
    """Any files shared among any versions; disk and cache gain the same here."""
    usage = Usage()
    versions = [_version(number) for number in range(5)]
    for holders, size in shares.items():
        usage.add(frozenset(versions[number].folder for number in holders), True, size)
    choice = Choice(Shortage(cache, disk), usage)
    enough = rooms._fill(choice, versions)
    freed = choice.freed()
    assert enough == (sum(shares.values()) >= max(cache, disk))
    assert enough == choice.shortage.is_covered(freed)
    for one in choice.things if enough else ():
        rest = usage.freed(rooms._place(other) for other in choice.things if other is not one)
        assert not choice.shortage.is_covered(rest)
    assert sum(removal.bytes for removal in choice.removals()) == freed[0]


def _version(number: int) -> Staged:
    signature = Signature(0, 0, 0, 0)
    facts = {"tree": "", "placement": "", "remote": "", "staged_at": ""}
    receipt = Receipt("a", f"v{number}", **facts, files=0, bytes_raw=0, signature=signature)
    return Staged(receipt, Path(f"/cache/datasets/a/v{number}"), False)
