"""cache/space.py: disk space is checked, made and promised before the first byte."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path

import pytest

from stager.cache import staged
from stager.cache.filesystem import free_bytes
from stager.cache.folders import Folders
from stager.cache.options import CacheOptions
from stager.cache.reservations import living
from stager.cache.space import Need, reserved
from stager.cache.staged import Staged
from stager.cache.usage import measure
from stager.errors import DiskFull
from stager.events import Event, Noted, ignore
from tests.unit.cache.children import child_that
from tests.unit.cache.test_staged import stage

GB = 10**9
ROOM = 100 * 10**6  # what a test may disturb on a disk that others write to
NOWHERE = Path("/nonexistent/staging")


@pytest.fixture
def options(tmp_path: Path) -> CacheOptions:
    """A cache on this disk, without a floor."""
    return CacheOptions(tmp_path / "cache", free_floor=0)


def of(size: int) -> Need:
    """So many bytes, whoever counts."""
    return Need(size, size, size)


def may_go(_: Staged) -> str:
    """The remote has everything."""
    return ""


def promises(options: CacheOptions) -> list[Path]:
    """Promises that are written down."""
    return list(Folders(options.path).reservations.iterdir())


def test_what_fits_is_promised_and_given_back(options: CacheOptions) -> None:
    with reserved(options, of(1000), NOWHERE, may_go, ignore):
        assert [one[:2] for one in living(Folders(options.path))] == [(1000, 1000)]
    assert promises(options) == []
    with pytest.raises(ZeroDivisionError), reserved(options, of(1000), NOWHERE, may_go, ignore):
        _ = 1 / 0
    assert promises(options) == []


def test_T53_what_does_not_fit_is_refused_with_both_numbers(options: CacheOptions) -> None:
    huge = of(10**18)
    with pytest.raises(DiskFull) as caught, reserved(options, huge, NOWHERE, may_go, ignore):
        pytest.fail("there is no such disk")
    assert caught.value.fields["needed"] == "1000000.0 TB"
    assert str(caught.value.fields["free"]) in str(caught.value)
    assert promises(options) == []


def test_T54_the_floor_is_left_alone(tmp_path: Path) -> None:
    free = free_bytes(tmp_path)
    floored = CacheOptions(tmp_path / "cache", free_floor=max(0, free - ROOM))
    with reserved(floored, of(1), NOWHERE, may_go, ignore):
        pass
    with pytest.raises(DiskFull), reserved(floored, of(2 * ROOM), NOWHERE, may_go, ignore):
        pytest.fail("this is above the floor")
    low = CacheOptions(tmp_path, free + GB)
    with pytest.raises(DiskFull), reserved(low, of(1), NOWHERE, may_go, ignore):
        pytest.fail("the disk is below its floor already")


def test_two_promises_in_one_process_add_up(options: CacheOptions) -> None:
    free = free_bytes(options.path.parent)
    with reserved(options, of(free - 3 * ROOM), NOWHERE, may_go, ignore):
        with reserved(options, of(ROOM), NOWHERE, may_go, ignore):
            pass
        more = of(5 * ROOM)
        with pytest.raises(DiskFull) as caught, reserved(options, more, NOWHERE, may_go, ignore):
            pytest.fail("this was promised to another")
    assert "promised to other pulls" in str(caught.value)


def test_T47_a_promise_of_another_process_counts_until_it_dies(options: CacheOptions) -> None:
    free = free_bytes(options.path.parent)
    child = child_that(
        f"""
        from pathlib import Path
        from stager.cache.options import CacheOptions
        from stager.cache.space import Need, reserved
        from stager.events import ignore
        size = {free - 3 * ROOM}
        options = CacheOptions(Path({str(options.path)!r}), 0)
        with reserved(options, Need(size, size, size), Path("no"), lambda found: "", ignore):
            ready()
        """
    )
    more = of(5 * ROOM)
    with pytest.raises(DiskFull), reserved(options, more, NOWHERE, may_go, ignore):
        pytest.fail("this was promised to another process")
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert len(promises(options)) == 1
    with reserved(options, more, NOWHERE, may_go, ignore):
        assert len(promises(options)) == 1  # ours; the dead one was swept


@pytest.mark.parametrize("content", [b"", b"1000", b"half a num"])
def test_T47_leftovers_of_killed_runs_are_swept(options: CacheOptions, content: bytes) -> None:
    folder = Folders(options.path).reservations
    folder.mkdir(parents=True)
    (folder / "99999-aabbccdd").write_bytes(content)
    with reserved(options, of(1000), NOWHERE, may_go, ignore):
        assert len(promises(options)) == 1


def test_a_disk_that_fills_up_all_the_same_is_said(options: CacheOptions) -> None:
    with pytest.raises(DiskFull), reserved(options, of(1000), NOWHERE, may_go, ignore):
        raise OSError(errno.ENOSPC, "full")
    small = of(1000)
    with (
        pytest.raises(OSError, match="broken") as caught,
        reserved(options, small, NOWHERE, may_go, ignore),
    ):
        raise OSError(errno.EIO, "broken")
    assert not isinstance(caught.value, DiskFull)


@pytest.fixture
def full(options: CacheOptions) -> CacheOptions:
    """A cache with v1 and v2, in that order, and a budget for no more."""
    folders = Folders(options.path)
    for number in (1, 2):
        os.utime(stage(folders, version=f"v{number}").folder, (number, number))
    return CacheOptions(options.path, 0, measure(folders).total + 5000)


def labels(options: CacheOptions) -> list[str]:
    """Versions that are there."""
    return [one.receipt.version for one in staged.everything(Folders(options.path))]


def test_T54_the_budget_evicts_what_is_unused_the_longest(full: CacheOptions) -> None:
    heard: list[Event] = []
    with reserved(full, of(5000), NOWHERE, may_go, heard.append):
        assert labels(full) == ["v1", "v2"]
        with reserved(full, of(5000), NOWHERE, may_go, heard.append):
            assert labels(full) == ["v2"]
    assert [type(event) for event in heard] == [Noted]


def test_T53_a_version_larger_than_the_budget_disturbs_nothing(full: CacheOptions) -> None:
    asked: list[Staged] = []

    def judge(found: Staged) -> str:
        asked.append(found)
        return ""

    alone = Need(10, 10, full.budget + 1)
    with pytest.raises(DiskFull, match="budget"), reserved(full, alone, NOWHERE, judge, ignore):
        pytest.fail("it can never fit")
    assert labels(full) == ["v1", "v2"]
    assert asked == []


def test_T52_what_has_no_copy_stays_and_the_refusal_says_so(full: CacheOptions) -> None:
    need = Need(full.budget - 10, full.budget - 10, 10)

    def judge(found: Staged) -> str:
        return "no copy: gone" if found.receipt.version == "v2" else ""

    with pytest.raises(DiskFull) as caught, reserved(full, need, NOWHERE, judge, ignore):
        pytest.fail("v2 has no copy")
    assert labels(full) == ["v1", "v2"]  # not even v1, since that is not enough
    assert "alpaca@v2 stays: no copy: gone" in str(caught.value)
    assert "of a budget of" in str(caught.value)


def test_clones_count_for_the_budget_and_not_for_the_disk(full: CacheOptions) -> None:
    counted = full.budget - 20_000  # the folders above stay
    need = Need(0, counted, counted)
    with reserved(full, need, NOWHERE, may_go, ignore):
        assert labels(full) == []
