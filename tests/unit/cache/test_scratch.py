"""cache/scratch.py: a folder that goes, whatever happens to its user."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stager.cache.folders import Folders
from stager.cache.scratch import scratch
from stager.events import ignore

USER = """
import sys, time
from pathlib import Path
from stager.cache.folders import Folders
from stager.cache.scratch import scratch
from stager.events import ignore
with scratch(Folders(Path(sys.argv[1])), ignore) as folder:
    (folder / "file").write_bytes(b"1")
    print(folder, flush=True)
    time.sleep(600)
"""


def test_it_goes_with_all_that_is_in_it(tmp_path: Path) -> None:
    with scratch(Folders(tmp_path), ignore) as folder:
        (folder / "a").mkdir()
        (folder / "a" / "b").write_bytes(b"1")
        assert folder.is_relative_to(tmp_path / "staging")
    assert not folder.exists()


def test_it_goes_after_a_failure(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), scratch(Folders(tmp_path), ignore) as folder:
        raise KeyboardInterrupt
    assert not folder.exists()


def test_one_in_use_stays_and_one_of_a_killed_process_goes(tmp_path: Path) -> None:
    command = [sys.executable, "-c", USER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        other = Path(process.stdout.readline().strip())
        try:
            with scratch(Folders(tmp_path), ignore) as mine:
                assert (other / "file").exists() and mine != other
        finally:
            process.kill()
    with scratch(Folders(tmp_path), ignore):
        assert not other.exists()
