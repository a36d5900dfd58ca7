"""cache/journal.py: what a pull that was stopped left word of."""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.cache.journal import NAME, note, notes
from stager.model.paths import first_unsafe

ONE, TWO = b"1" * 32, b"2" * 32
NOTE = 36


def test_what_is_noted_is_known(tmp_path: Path) -> None:
    assert notes(tmp_path) == {}
    note(tmp_path, 7, ONE)
    note(tmp_path, 2**32 - 1, TWO)
    assert notes(tmp_path) == {7: ONE, 2**32 - 1: TWO}
    note(tmp_path, 7, TWO)
    assert notes(tmp_path) == {7: TWO, 2**32 - 1: TWO}


def test_a_folder_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert notes(tmp_path / "nothing") == {}


def test_no_file_of_a_version_has_its_name() -> None:
    assert first_unsafe([NAME]) == NAME


@pytest.mark.parametrize("torn", range(1, NOTE))
def test_T4_a_torn_note_counts_for_nothing_and_spoils_no_other(tmp_path: Path, torn: int) -> None:
    note(tmp_path, 1, ONE)
    note(tmp_path, 2, ONE)
    os.truncate(tmp_path / NAME, NOTE + torn)
    assert notes(tmp_path) == {1: ONE}
    note(tmp_path, 3, TWO)  # by the run that resumes
    assert notes(tmp_path) == {1: ONE, 3: TWO}


def test_notes_of_many_threads_do_not_mix(tmp_path: Path) -> None:
    digests = {at: bytes([at % 256]) * 32 for at in range(1000)}
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda at: note(tmp_path, at, digests[at]), digests))
    assert notes(tmp_path) == digests


@given(st.binary(max_size=300))
def test_any_bytes_are_some_notes(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, NAME).write_bytes(data)
        assert len(notes(Path(folder))) <= len(data) // NOTE
        assert Path(folder, NAME).stat().st_size == len(data) - len(data) % NOTE


@pytest.mark.parametrize("what", ["link", "dangling link", "folder", "pipe", "read-only"])
def test_T26_what_stands_in_its_place_is_neither_read_nor_written_through(
    tmp_path: Path, what: str
) -> None:
    outside = tmp_path / "outside"
    if what != "dangling link":
        outside.write_bytes(b"x" * (NOTE + 1))
    folder = tmp_path / "s"
    folder.mkdir()
    if what == "folder":
        (folder / NAME).mkdir()
    elif what == "pipe":
        os.mkfifo(folder / NAME)
    elif what == "read-only":
        (folder / NAME).touch(0o444)
    else:
        (folder / NAME).symlink_to(outside)
    before = outside.read_bytes() if outside.exists() else None
    assert notes(folder) == {}
    note(folder, 1, ONE)
    assert notes(folder) == {1: ONE}
    assert (outside.read_bytes() if outside.exists() else None) == before


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for at in range(3):
        note(tmp_path, at, ONE)
        notes(tmp_path)
    assert len(os.listdir("/proc/self/fd")) == before
