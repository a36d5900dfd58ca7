"""The Python API, and a remote in the memory of this process."""

from __future__ import annotations

from pathlib import Path

import pytest

import stager
from stager.errors import VersionNotFound
from stager.events import Event, Requested
from tests.integration.test_push import make
from tests.support.command import contents


def test_real_inputs_come_back_identical_from_memory(real_input: Path, tmp_path: Path) -> None:
    where = {"remote": f"memory://{tmp_path.name}-{real_input.name}", "cache": tmp_path / "cache"}
    report = stager.push(real_input, "real", free_floor=0, **where)
    assert report.reference == "real@v1"
    assert contents(stager.pull("real@v1", free_floor=0, **where)) == contents(real_input)


def test_push_pull_and_listen(tmp_path: Path) -> None:
    source = make(tmp_path / "data", {"a.jsonl": b'{"x": 1}\n', "b": b"2"})
    where = {"remote": tmp_path / "remote", "cache": tmp_path / "cache", "free_floor": 0}
    heard: list[Event] = []
    assert stager.push(source, "team/data", "first", listener=heard.append, **where).created
    folder = stager.pull("team/data@v1", tmp_path / "here", **where)
    assert folder == tmp_path / "here"
    assert contents(folder) == contents(source)
    assert any(isinstance(event, Requested) and event.kind == "put" for event in heard)


def test_adopt(tmp_path: Path) -> None:
    source = make(tmp_path / "data", {"a": b"1"})
    where = {"remote": tmp_path / "remote", "cache": tmp_path / "cache", "free_floor": 0}
    assert stager.adopt(str(source), "old", **where).version == "v1"
    assert contents(stager.pull("old", **where)) == {"a": b"1"}


def test_failures_are_of_one_tree(tmp_path: Path) -> None:
    with pytest.raises(VersionNotFound):
        stager.pull("none@v1", remote=tmp_path / "remote", cache=tmp_path / "cache")
