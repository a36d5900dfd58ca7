"""cache/filesystem.py"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stager.cache import filesystem
from stager.cache.filesystem import file_system_of


def test_it_is_the_one_the_folder_is_on(tmp_path: Path) -> None:
    found = file_system_of(tmp_path / "not" / "yet")
    assert os.path.ismount(found.mounted_at)
    assert os.stat(found.mounted_at).st_dev == os.stat(tmp_path).st_dev
    assert 0 < found.free < found.size
    assert found.kind not in ("", "unknown")


def test_proc_is_proc() -> None:
    assert file_system_of(Path("/proc/self"))[:2] == ("proc", "/proc")


@pytest.mark.parametrize(
    ("escaped", "plain"), [(r"/a\040b", "/a b"), (r"/a\011\134b", "/a\t\\b"), ("/a", "/a")]
)
def test_mount_points_with_blanks(escaped: str, plain: str) -> None:
    assert filesystem._unescaped(escaped) == plain
