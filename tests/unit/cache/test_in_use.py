"""cache/in_use.py: a version that a process has open is seen, whatever way it has it open."""

from __future__ import annotations

from pathlib import Path

import pytest

from stager.cache.folders import Folders
from stager.cache.in_use import in_use
from tests.unit.cache.children import child_that

WAYS = {
    "file": "file = open('{folder}/deep/a', 'rb')",
    "mapping": "import mmap; f = open('{folder}/deep/a'); m = mmap.mmap(f.fileno(), 0, "
    "prot=mmap.PROT_READ); f.close()",
    "working directory": "import os; os.chdir('{folder}/deep')",
    "the folder itself": "import os; os.chdir('{folder}')",
}


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """A cache with two versions, under a path with a blank, reached through a link."""
    real = Folders(tmp_path / "the cache")
    for version in ("v1", "v10"):
        (real.version("team/a", version) / "deep").mkdir(parents=True)
        (real.version("team/a", version) / "deep" / "a").write_bytes(b"x" * 5000)
    (tmp_path / "link").symlink_to(real.root)
    return Folders(tmp_path / "link")


@pytest.mark.parametrize("way", WAYS)
def test_a_version_in_use_is_seen(folders: Folders, way: str) -> None:
    assert in_use(folders) == {}
    folder = folders.version("team/a", "v1")
    child = child_that(WAYS[way].format(folder=folder) + "\nready()")
    assert in_use(folders) == {folder: child.pid}
    child.kill()
    child.wait()
    assert in_use(folders) == {}


def test_this_process_counts_too(folders: Folders) -> None:
    with open(folders.version("team/a", "v10") / "deep" / "a", "rb"):
        assert list(in_use(folders)) == [folders.version("team/a", "v10")]


def test_a_cache_that_is_not_there_is_not_in_use(tmp_path: Path) -> None:
    assert in_use(Folders(tmp_path / "none")) == {}
