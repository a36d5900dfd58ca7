"""cache/usage.py: allocated bytes, each inode once, and what a removal frees."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.cache import usage as usages
from stager.cache.folders import Folders
from stager.cache.usage import allocated, measure


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """An empty cache."""
    return Folders(tmp_path / "cache")


def version(folders: Folders, label: str, **files: int | Path) -> Path:
    """A version with files of so many bytes, or linked to another file."""
    folder = folders.version("data", label)
    folder.mkdir(parents=True)
    for name, content in files.items():
        if isinstance(content, int):
            (folder / name).write_bytes(os.urandom(content))
        else:
            os.link(content, folder / name)
    return folder


def disk_usage(*paths: Path) -> int:
    """What du says, each inode once."""
    listed = [str(path) for path in paths if path.exists()]
    done = subprocess.run(["du", "-scB1", *listed], capture_output=True, text=True, check=True)
    return int(done.stdout.splitlines()[-1].split()[0])


def of_cache(folders: Folders) -> int:
    """The same of the folders that count."""
    return disk_usage(folders.root / "datasets", folders.root / "staging")


def test_nothing_takes_nothing(folders: Folders) -> None:
    assert measure(folders).total == 0


def test_it_is_what_du_says(folders: Folders) -> None:
    one = version(folders, "v1", a=100_000, b=10)
    version(folders, "v2", a=one / "a", c=70_000)
    folders.receipt("data", "v1").write_bytes(b"x" * 6000)
    folders.pin("data", "v1").touch()
    (folders.staging("blake3:00") / "deep").mkdir(parents=True)
    with open(folders.staging("blake3:00") / "deep" / "sparse", "wb") as file:
        file.truncate(10**9)
    (folders.root / "locks").mkdir()
    (folders.root / "locks" / "x").write_bytes(b"x" * 10_000)  # not counted
    found = measure(folders)
    assert found.total == of_cache(folders)
    assert found.held_by([one]) == disk_usage(one, folders.receipt("data", "v1"))


def test_shared_files_are_freed_with_their_last_holder(folders: Folders) -> None:
    one = version(folders, "v1", a=100_000, b=50_000)
    two = version(folders, "v2", a=one / "a")
    found = measure(folders)
    assert 50_000 < found.unique(one) < 80_000
    assert found.unique(two) < 20_000
    assert found.freed([one, two])[0] > 150_000
    shutil.rmtree(one)
    shutil.rmtree(two)
    assert found.total - found.freed([one, two])[0] == of_cache(folders)


def test_a_link_outside_the_cache_keeps_the_disk_but_not_the_budget(
    folders: Folders, tmp_path: Path
) -> None:
    one = version(folders, "v1", a=100_000)
    os.link(one / "a", tmp_path / "placed")
    cache, disk = measure(folders).freed([one])
    assert cache > 100_000
    assert disk < 20_000


def test_a_version_published_during_the_walk_counts_once(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    staging = folders.staging("blake3:00")
    staging.mkdir(parents=True)
    (staging / "a").write_bytes(os.urandom(200_000))
    folders.dataset("data").mkdir(parents=True)
    target = folders.version("data", "v1")
    inside = usages._inside

    def publish_then_look(folder: Path) -> list[Path]:
        if folder.name == "datasets" and staging.exists():
            os.rename(staging, target)
        return inside(folder)

    monkeypatch.setattr(usages, "_inside", publish_then_look)
    found = measure(folders)
    assert found.total == of_cache(folders)
    assert found.unique(target) > 200_000
    assert found.inodes[os.stat(target).st_ino] == target


def test_the_newest_change_of_a_holder_is_that_of_its_deepest_file(folders: Folders) -> None:
    one = version(folders, "v1", a=1)
    (one / "deep").mkdir()
    (one / "deep" / "b").touch()
    os.utime(one / "deep" / "b", (4e9, 4e9))
    assert measure(folders).newest[one] == 4e9


def test_allocated_leaves_out_what_others_hold(folders: Folders, tmp_path: Path) -> None:
    one = version(folders, "v1", a=100_000, b=50_000)
    os.link(one / "a", tmp_path / "elsewhere")
    assert 50_000 < allocated(one) < 70_000
    (tmp_path / "elsewhere").unlink()
    assert allocated(one) == disk_usage(one)
    assert allocated(tmp_path / "none") == 0


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 9000)),
        max_size=12,
        unique_by=lambda t: t[:2],
    ),
    st.sets(st.integers(0, 3)),
)
def test_what_a_removal_frees_is_what_du_says_less(
    links: list[tuple[int, int, int]], gone: set[int]
) -> None:
    """Any files linked among any versions, any of these removed."""
    with tempfile.TemporaryDirectory() as base:
        folders = Folders(Path(base))
        versions = [version(folders, f"v{n}") for n in range(4)]
        for holder, content, size in links:
            origin = Path(base) / str(content)
            if not origin.exists():
                origin.write_bytes(b"x" * size)
            os.link(origin, versions[holder] / str(content))
        for origin in Path(base).glob("[0-9]"):
            origin.unlink()
        found = measure(folders)
        assert found.total == of_cache(folders)
        freed = found.freed(versions[n] for n in gone)
        for n in gone:
            shutil.rmtree(versions[n])
        assert freed == (found.total - of_cache(folders),) * 2
