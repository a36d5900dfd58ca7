"""workspace.py: settings in, stores out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stager import config
from stager.errors import ConfigError, StagerError
from stager.events import Event, Requested
from stager.workspace import Workspace, utc_now


def workspace(tmp_path: Path, remote: str | None = None, **others: object) -> Workspace:
    """A workspace of these settings and no others."""
    flags = {"remote": remote, "cache": str(tmp_path / "cache")}
    environ = {"USER": "somebody", "XDG_CONFIG_HOME": str(tmp_path)}
    return Workspace(config.load(flags, environ, tmp_path), **others)  # type: ignore[arg-type]


def test_a_store_is_connected_once_and_counted(tmp_path: Path) -> None:
    heard: list[Event] = []
    found = workspace(tmp_path, str(tmp_path / "remote"), listener=heard.append)
    found.remote.put("a", b"123")
    assert found.remote is found.store(found.remote_url)
    assert found.meter.by_kind()["put"] == 1
    assert found.meter.sent == 3
    assert [type(event) for event in heard] == [Requested]


def test_without_a_remote_nothing_is_connected(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        _ = workspace(tmp_path).remote
    assert workspace(tmp_path).folders.root == tmp_path / "cache"


def test_a_pack_lies_below_the_remote_or_at_a_url(tmp_path: Path) -> None:
    found = workspace(tmp_path, "s3://bucket/team")
    assert found.locate("packs/aa/bb") == (found.remote, "packs/aa/bb")
    store, key = found.locate("s3://other/folder/a+b%20c.jsonl")
    assert (store.url, key) == ("s3://other", "folder/a+b%20c.jsonl")


@pytest.mark.parametrize("key", ["file:///etc/passwd", "memory://x/y", "oss://bucket/key"])
def test_T26_a_placement_cannot_make_a_node_read_from_elsewhere(tmp_path: Path, key: str) -> None:
    with pytest.raises(StagerError):
        workspace(tmp_path, "s3://bucket/team").locate(key)


def test_times_are_utc_and_sort_as_text() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", utc_now())
