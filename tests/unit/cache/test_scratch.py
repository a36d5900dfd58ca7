"""cache/scratch.py: a folder for one run, however that run ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stager.cache.folders import Folders
from stager.cache.scratch import scratch
from stager.events import ignore

KILLED = """
import os, sys
from pathlib import Path
from stager.cache.folders import Folders
from stager.cache.scratch import scratch
from stager.events import ignore
with scratch(Folders(Path(sys.argv[1])), ignore) as folder:
    (folder / "left").write_bytes(b"x")
    os._exit(9)
"""


def left(root: Path) -> list[str]:
    """What lies in the staging area."""
    return sorted(entry.name for entry in (root / "staging").iterdir())


def test_it_is_empty_private_and_gone_afterwards(tmp_path: Path) -> None:
    with scratch(Folders(tmp_path), ignore) as folder:
        assert list(folder.iterdir()) == []
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "sub").mkdir()
        (folder / "sub" / "file").write_bytes(b"x")
    assert left(tmp_path) == []


def test_it_is_gone_after_a_failure(tmp_path: Path) -> None:
    with pytest.raises(ValueError), scratch(Folders(tmp_path), ignore) as folder:
        (folder / "file").write_bytes(b"x")
        raise ValueError
    assert left(tmp_path) == []


def test_two_at_once_leave_each_other_alone(tmp_path: Path) -> None:
    with scratch(Folders(tmp_path), ignore) as first:
        (first / "mine").write_bytes(b"1")
        with scratch(Folders(tmp_path), ignore) as second:
            assert first != second
        assert (first / "mine").read_bytes() == b"1"


def test_what_a_killed_run_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, timeout=60)
    assert done.returncode == 9
    (dead,) = left(tmp_path)
    (tmp_path / "staging" / "blake3-0").mkdir()
    os.symlink(tmp_path, tmp_path / "staging" / "scratch-link")
    with scratch(Folders(tmp_path), ignore) as folder:
        assert set(left(tmp_path)) == {folder.name, "blake3-0", "scratch-link"}
        assert folder.name != dead
    assert tmp_path.is_dir()
