"""cache/need.py: never less than what a version takes, and not much more."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given

from stager.cache import need, staging
from stager.cache.frame_files import FrameFiles
from stager.cache.need import need_of
from stager.cache.usage import allocated
from tests.unit.cache.test_frame_files import raw_frames
from tests.unit.examples import contents, placed

STORED = 1000
BESIDE = (1 + need.BESIDE) * 4096


@given(contents())
def test_a_version_takes_no_more_than_was_asked_for(files: dict[str, bytes]) -> None:
    placement, packs = placed(files)
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base) / "s"
        staging.begin(folder, placement)
        before = allocated(folder)
        asked = need_of(folder, placement, STORED, (), False)
        written = FrameFiles(str(folder), placement)
        for at, raw in enumerate(raw_frames(placement, packs)):
            written.write(at, raw)
        staging.complete(written)
        assert allocated(folder) - before <= asked.disk - BESIDE
        assert allocated(folder) <= asked.alone - BESIDE
        rest = need_of(folder, placement, STORED, (), True)
        assert rest.disk <= BESIDE + len(files) * 8192
        assert asked.counted == asked.disk


def test_many_files_in_one_folder(tmp_path: Path) -> None:
    """The folder itself grows to hundreds of kilobytes."""
    names = {f"{'n' * (number % 200)}-{number}": b"" for number in range(5000)}
    placement, _ = placed(names)
    folder = tmp_path / "s"
    staging.begin(folder, placement)
    asked = need_of(folder, placement, STORED, (), False)
    before = allocated(folder)
    staging.complete(FrameFiles(str(folder), placement))
    grown = allocated(folder) - before
    assert grown <= asked.disk - BESIDE
    assert asked.disk <= 4 * grown + BESIDE


def test_what_is_here_already_is_not_needed_again(tmp_path: Path) -> None:
    contents = {name: name.encode() * 100_000 for name in "abc"}
    placement, _ = placed(contents, frame_bytes=8192)
    folder = tmp_path / "s"
    staging.begin(folder, placement)
    (folder / "a").write_bytes(contents["a"])
    whole = need_of(folder, placement, STORED, (), False)
    resumed = need_of(folder, placement, STORED, (), True)
    assert whole.disk - resumed.disk == os.stat(folder / "a").st_blocks * 512
    linked = need_of(folder, placement, STORED, {1, 2}, True)
    assert linked.disk < 100_000
    assert linked.alone == whole.alone > 300_000


def test_T54_the_budget_counts_clones_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    placement, _ = placed({"a": b"x" * 100_000}, frame_bytes=8192)
    staging.begin(tmp_path / "s", placement)
    monkeypatch.setattr(need, "_reflinks", lambda folder: True)
    asked = need_of(tmp_path / "s", placement, STORED, {0}, False)
    assert asked.counted - asked.disk == 102_400
    assert asked.disk < 50_000


def test_the_trial_of_reflinks_leaves_nothing(tmp_path: Path) -> None:
    assert need._reflinks(tmp_path) in (True, False)
    assert list(tmp_path.iterdir()) == []
