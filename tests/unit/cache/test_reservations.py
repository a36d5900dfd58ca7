"""cache/reservations.py: what was promised and not yet written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stager.cache import reservations
from stager.cache.folders import Folders
from stager.cache.reservations import Reservation, living, promised, total
from stager.cache.usage import measure
from tests.unit.cache.children import child_that

MB = 10**6


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """A cache in which a pull has begun."""
    made = Folders(tmp_path / "cache")
    made.reservations.mkdir(parents=True)
    made.staging("blake3:00").mkdir(parents=True)
    (made.staging("blake3:00") / "earlier").write_bytes(os.urandom(MB))
    return made


def remaining(folders: Folders) -> Reservation:
    """Of all reservations, as another pull sees it."""
    return total(living(folders), measure(folders))


def test_what_was_written_since_counts_no_longer(folders: Folders) -> None:
    staging = folders.staging("blake3:00")
    with promised(folders, 3 * MB, 5 * MB, staging):
        assert remaining(folders) == (3 * MB, 5 * MB, 0, 0)  # what was there is not written
        (staging / "a").write_bytes(os.urandom(MB))
        left = remaining(folders)
        assert left.disk == 3 * MB  # the clones come first, and take no disk
        assert 3.9 * MB < left.counted < 4.1 * MB
        (staging / "b").write_bytes(os.urandom(3 * MB))
        left = remaining(folders)
        assert left.disk == left.counted
        assert 0.9 * MB < left.disk < 1.1 * MB
        (staging / "c").write_bytes(os.urandom(2 * MB))
        assert remaining(folders) == Reservation(0, 0)
    assert living(folders) == []


def test_a_published_version_is_written(folders: Folders) -> None:
    staging = folders.staging("blake3:00")
    with promised(folders, 3 * MB, 3 * MB, staging):
        folders.dataset("data").mkdir(parents=True)
        os.rename(staging, folders.version("data", "v1"))
        assert remaining(folders) == Reservation(0, 0)


def test_a_staging_folder_that_is_gone_counts_whole(folders: Folders) -> None:
    with promised(folders, MB, MB, folders.root / "staging" / "none"):
        assert remaining(folders)[:2] == (MB, MB)


def test_files_shared_with_a_version_are_not_written(folders: Folders) -> None:
    staging, version = folders.staging("blake3:00"), folders.version("data", "v1")
    version.mkdir(parents=True)
    (version / "a").write_bytes(os.urandom(MB))
    with promised(folders, MB, MB, staging):
        os.link(version / "a", staging / "a")
        assert remaining(folders)[:2] == (MB, MB)


def test_T47_a_promise_of_a_dead_process_is_none_and_is_swept(folders: Folders) -> None:
    child = child_that(
        f"""
        from pathlib import Path
        from stager.cache.folders import Folders
        from stager.cache.reservations import promised
        with promised(Folders(Path({str(folders.root)!r})), 7, 8, Path("none")):
            ready()
        """
    )
    assert total(living(folders, sweep=True))[:2] == (7, 8)
    child.kill()
    child.wait()
    assert living(folders) == []
    assert len(list(folders.reservations.iterdir())) == 1  # who only looks does not sweep
    assert living(folders, sweep=True) == []
    assert list(folders.reservations.iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"x", b"[1", b"[]", b'["a", 1]', b"7", b"{}"])
def test_what_is_half_written_is_none(data: bytes) -> None:
    assert reservations._decoded(data) == Reservation(0, 0)


def test_an_empty_cache_has_promised_nothing(tmp_path: Path) -> None:
    assert living(Folders(tmp_path)) == []
