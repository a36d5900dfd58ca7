"""kill -9 of an import: no version that lies, nothing left behind, and the next run completes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.support import corpus
from tests.support.command import Stager, contents
from tests.support.foreign import FIRST, Project, git_project, hub_snapshot
from tests.support.moments import Moments

MOMENTS = 8


@pytest.fixture
def repository(tmp_path: Path) -> Project:
    """24 MB in one large and many small files, all kept by Git itself."""
    project = git_project(tmp_path / "project")
    corpus.jsonl(project.folder / "train.jsonl", 24_000_000, seed=1)
    corpus.small_files(project.folder / "images", 100, 2000, 20_000, seed=2)
    project.commit()
    return project


def test_T50_kill_of_import(local: Stager, repository: Project) -> None:
    expected = {
        name: data for name, data in contents(repository.folder).items() if ".git/" not in name
    }
    how = ("import", "--git-lfs", repository.folder, ".")
    began = time.perf_counter()
    local.ok(*how, "timing")
    whole = time.perf_counter() - began
    moments = Moments(9, whole, 0.2)
    for number in range(MOMENTS):
        killed = Stager(f"{local.remote}{number}", local.cache)
        process = killed.start(*how, "data")
        time.sleep(moments.next())
        process.kill()
        process.communicate()
        log = killed.run("log", "data")
        assert log.code in (0, 31)
        moments.hit(log.code != 0)
        killed.ok(*how, "data")
        assert len(killed.json("log", "data")) == 1
        assert list((local.cache / "staging").iterdir()) == []
        node = killed.at(local.cache.with_name(f"node{number}"))
        assert contents(Path(node.json("pull", "data@v1")["path"])) == expected
    moments.require(MOMENTS // 3)


def test_T54_no_room_for_what_must_be_brought_is_said(local: Stager, repository: Project) -> None:
    result = local.run(
        "import", "--git-lfs", repository.folder, ".", "data", STAGER_FREE_FLOOR=str(2**60)
    )
    assert result.code == 41
    assert "needed" in result.stderr
    assert local.run("log", "data").code == 31
    assert list((local.cache / "staging").iterdir()) == []


def test_T54_a_full_disk_is_no_reason_where_nothing_must_be_brought(
    local: Stager, tmp_path: Path
) -> None:
    snapshot = hub_snapshot(tmp_path / "models--org--name", {"config.json": b"{}"}, FIRST)
    local.ok("import", "--hf", snapshot, "data", STAGER_FREE_FLOOR=str(2**60))
