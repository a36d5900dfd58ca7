"""cache/space.py: disk space is checked and promised before the first byte."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from stager.cache.folders import Folders
from stager.cache.options import CacheOptions
from stager.cache.space import free_bytes, reserved
from stager.errors import DiskFull
from stager.events import ignore
from tests.unit.cache.children import child_that

GB = 10**9
ROOM = 100 * 10**6  # what a test may disturb on a disk that others write to


@pytest.fixture
def options(tmp_path: Path) -> CacheOptions:
    """A cache on this disk, without a floor."""
    return CacheOptions(tmp_path / "cache", free_floor=0)


def promises(options: CacheOptions) -> list[Path]:
    """Promises that are written down."""
    return list(Folders(options.path).reservations.iterdir())


def test_what_fits_is_promised_and_given_back(options: CacheOptions) -> None:
    with reserved(options, 1000, ignore):
        assert [path.read_text() for path in promises(options)] == ["1000"]
    assert promises(options) == []
    with pytest.raises(ZeroDivisionError), reserved(options, 1000, ignore):
        _ = 1 / 0
    assert promises(options) == []


def test_T53_what_does_not_fit_is_refused_with_both_numbers(options: CacheOptions) -> None:
    with pytest.raises(DiskFull) as caught, reserved(options, 10**18, ignore):
        pytest.fail("there is no such disk")
    assert caught.value.fields["needed"] == "1000000.0 TB"
    assert str(caught.value.fields["free"]) in str(caught.value)
    assert promises(options) == []


def test_T54_the_floor_is_left_alone(tmp_path: Path) -> None:
    free = free_bytes(tmp_path)
    floored = CacheOptions(tmp_path / "cache", free_floor=max(0, free - ROOM))
    with reserved(floored, 1, ignore):
        pass
    with pytest.raises(DiskFull), reserved(floored, 2 * ROOM, ignore):
        pytest.fail("this is above the floor")
    with pytest.raises(DiskFull), reserved(CacheOptions(tmp_path, free + GB), 1, ignore):
        pytest.fail("the disk is below its floor already")


def test_two_promises_in_one_process_add_up(options: CacheOptions) -> None:
    free = free_bytes(options.path.parent)
    with reserved(options, free - 3 * ROOM, ignore):
        with reserved(options, ROOM, ignore):
            pass
        with pytest.raises(DiskFull) as caught, reserved(options, 5 * ROOM, ignore):
            pytest.fail("this was promised to another")
    assert "promised to other pulls" in str(caught.value)


def test_T47_a_promise_of_another_process_counts_until_it_dies(options: CacheOptions) -> None:
    free = free_bytes(options.path.parent)
    child = child_that(
        f"""
        from pathlib import Path
        from stager.cache.options import CacheOptions
        from stager.cache.space import reserved
        from stager.events import ignore
        with reserved(CacheOptions(Path({str(options.path)!r}), 0), {free - 3 * ROOM}, ignore):
            ready()
        """
    )
    with pytest.raises(DiskFull), reserved(options, 5 * ROOM, ignore):
        pytest.fail("this was promised to another process")
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert len(promises(options)) == 1
    with reserved(options, 5 * ROOM, ignore):
        assert len(promises(options)) == 1  # ours; the dead one was swept


@pytest.mark.parametrize("content", [b"", b"1000", b"half a num"])
def test_T47_leftovers_of_killed_runs_are_swept(options: CacheOptions, content: bytes) -> None:
    folder = Folders(options.path).reservations
    folder.mkdir(parents=True)
    (folder / "99999-aabbccdd").write_bytes(content)
    with reserved(options, 1000, ignore):
        assert len(promises(options)) == 1
