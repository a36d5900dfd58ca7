"""`stager gc` where it must not delete: what stops it, and what comes between its steps."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stager.catalog import renewal
from stager.errors import RetentionRefused, StorageError, StorageUnavailable
from stager.model import layout
from stager.model.names import parse_reference
from stager.ops import gc as verb
from stager.ops import sweep
from stager.ops.gc import GcReport, GcRequest
from stager.ops.push import PushRequest, push
from stager.storage.resilient import Wrapper
from stager.storage.store import Data, ObjectInfo, ObjectStore
from stager.workspace import Workspace
from tests.integration.test_gc import NOW, age, freed, objects
from tests.integration.test_push import make
from tests.support import corpus
from tests.support.command import Stager


def garbage(local: Stager, tmp_path: Path) -> dict[str, int]:
    """`data@v1` tagged, v2 on it, v3 removed long ago: something is to be freed."""
    source = tmp_path / "source"
    for number in (1, 2, 3):
        make(source, {"a": b"%d" % number * 5000})
        local.ok("push", source, "data")
    local.ok("tag", "data@v1", "prod")
    local.ok("rm", "data@v3")
    age(local)
    assert local.json("gc")["bytes_freed"] > 0
    return objects(local)


def _rewritten(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_bytes()) | changes))


def _placement(record: Path) -> Path:
    return record.parents[3] / json.loads(record.read_bytes())["placement"]["key"]


def _gone(folder: Path, *keys: str) -> None:
    for key in keys:
        (folder / key).unlink()


FIRST, SECOND = layout.version_key("data", "v1"), layout.version_key("data", "v2")
TAG = layout.tag_key("data", "prod", 1)
BREAKS = {
    "record": lambda folder: (folder / SECOND).write_bytes(b"not JSON"),
    "record of a later format": lambda folder: _rewritten(folder / SECOND, format=2),
    "record of another version": lambda folder: _rewritten(folder / SECOND, version="v7"),
    "placement": lambda folder: _placement(folder / SECOND).write_bytes(b"x" * 9999),
    "placement that is gone": lambda folder: _placement(folder / SECOND).unlink(),
    "tag": lambda folder: (folder / TAG).write_bytes(b"{}"),
    "tag of a version that is gone": lambda folder: _gone(folder, FIRST),
    "parent that is gone": lambda folder: _gone(folder, TAG, FIRST),
    "all records": lambda folder: shutil.rmtree(folder / "datasets"),
    "remote of a later format": lambda folder: _rewritten(folder / "stager.json", format=2),
}


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("record", 22),
        ("record of a later format", 22),
        ("record of another version", 22),
        ("placement", 22),
        ("placement that is gone", 11),
        ("tag", 22),
        ("tag of a version that is gone", 60),
        ("parent that is gone", 60),
        ("all records", 60),
        ("remote of a later format", 22),
    ],
)
def test_K60_what_cannot_be_read_stops_everything(
    local: Stager, tmp_path: Path, what: str, code: int
) -> None:
    before = garbage(local, tmp_path)
    BREAKS[what](local.remote_folder)
    result = local.run("gc", "--delete", "--json")
    assert result.code == code, result.stderr
    assert result.json()["exit_code"] == code
    packs = {key for key in before if key.startswith(("packs/", "placements/", "records/"))}
    gone = packs - objects(local).keys()
    assert len(gone) == (what == "placement that is gone")


def test_records_that_were_deleted_by_hand_are_passed_over_by_force(
    local: Stager, tmp_path: Path
) -> None:
    garbage(local, tmp_path)
    BREAKS["tag of a version that is gone"](local.remote_folder)
    assert "data@v1 (tag data@prod) is gone" in local.run("gc", "--delete").stderr
    assert freed(local.json("gc", "--delete", "--force"))["packs"] == 2
    local.ok("verify", "data@v2", "--in-remote")


class Listing(Wrapper):
    """A store whose listing of the records leaves some out, or breaks; or acts on a delete."""

    def __init__(self, inner: ObjectStore, hidden: str = "", broken: bool = False) -> None:
        super().__init__(inner)
        self._hidden = hidden
        self._broken = broken
        self.before_delete = lambda: None

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """As it is said to be."""
        for at, info in enumerate(self.inner.list(prefix)):
            if self._broken and at and prefix == layout.DATASETS:
                raise StorageUnavailable(url=self.url, reason="by hand")
            if not self._hidden or self._hidden not in info.key:
                yield info

    def head(self, key: str) -> ObjectInfo:
        """As it is."""
        return self.inner.head(key)


def collect(stager: Stager, workspace: Workspace, **changes: Any) -> GcReport:
    """A gc in this process that deletes."""
    return verb.gc(workspace, GcRequest(**changes), dry_run=False)


def listed(stager: Stager, **how: Any) -> Workspace:
    """A workspace whose remote lists badly."""
    workspace = stager.workspace()
    workspace._stores[workspace.remote_url] = Listing(workspace.remote, **how)
    return workspace


def test_C22_a_listing_that_breaks_frees_nothing(local: Stager, tmp_path: Path) -> None:
    before = garbage(local, tmp_path)
    with pytest.raises(StorageUnavailable):
        collect(local, listed(local, broken=True))
    assert objects(local) == before


@pytest.mark.parametrize("hidden", ["versions/v1", "versions/"])
def test_C22_a_listing_that_leaves_versions_out_frees_nothing(
    local: Stager, tmp_path: Path, hidden: str
) -> None:
    before = garbage(local, tmp_path)
    with pytest.raises(RetentionRefused, match="was not listed"):
        collect(local, listed(local, hidden=hidden))
    assert objects(local) == before


def test_a_version_made_after_the_first_look_keeps_its_bytes(
    local: Stager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second look: a record comes that refers to what is about to go."""
    garbage(local, tmp_path)
    grave = (local.remote_folder / layout.removed_key("data", "v3")).read_bytes()
    plan = verb._plan

    def then_a_version(*arguments: Any) -> Any:
        found = plan(*arguments)
        assert found.candidates["packs"]
        record = json.loads(grave) | {"name": "again", "version": "v1", "parent": None}
        make(local.remote_folder, {layout.version_key("again", "v1"): json.dumps(record).encode()})
        return found

    monkeypatch.setattr(verb, "_plan", then_a_version)
    assert collect(local, local.workspace()).freed == {}
    local.ok("verify", "again@v1", "--in-remote")


def test_what_was_written_again_after_it_was_listed_is_kept(
    local: Stager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison right before: a push sends the pack again, its record comes later."""
    garbage(local, tmp_path)
    execute = verb._execute

    def after_a_push(*arguments: Any) -> Any:
        for kind in ("packs", "indexes"):
            for info in arguments[2].candidates[kind]:
                os.utime(local.remote_folder / info.key)
        return execute(*arguments)

    monkeypatch.setattr(verb, "_execute", after_a_push)
    report = collect(local, local.workspace())
    assert set(report.freed) == {"placements"}


def test_a_look_that_took_long_is_not_acted_upon(
    local: Stager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = garbage(local, tmp_path)
    monkeypatch.setattr(sweep, "WINDOW_SECONDS", -1.0)
    assert collect(local, local.workspace()).objects_freed == 0
    assert objects(local) == before


def test_a_pack_whose_index_is_young_is_about_to_be_sent(local: Stager, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    corpus.jsonl(source / "a.jsonl", 300_000, seed=1)
    local.ok("push", source, "data")
    local.ok("rm", "data@v1")
    age(local)
    (index,) = (path for path in (local.remote_folder / "records").rglob("*") if path.is_file())
    os.utime(index)
    assert freed(local.json("gc", "--delete")) == {"placements": 1}


@pytest.mark.parametrize("options", [(), ("--plain",)], ids=["packs", "plain"])
def test_T50_a_push_of_what_is_old_garbage_makes_it_young(
    local: Stager, tmp_path: Path, options: tuple[str, ...]
) -> None:
    """What it sends lies there already, and a gc may be about to take it."""
    source = make(tmp_path / "source", {"a": b"1" * 5000})
    local.ok("push", source, "data", *options)
    local.ok("rm", "data@v1")
    age(local)
    assert {"packs", "plain"} & set(freed(local.json("gc")))
    assert local.json("push", source, "data", *options)["bytes_stored"] > 0
    local.ok("rm", "data@v2")
    found = local.json("gc")
    assert found["freed"] == {}
    assert found["removed"] == 1
    local.ok(*NOW)
    assert local.run("push", source, "data", *options).code == 0


@pytest.mark.parametrize("plain", [False, True], ids=["packs", "plain"])
def test_T50_a_push_whose_objects_a_gc_took_at_that_moment_makes_no_version(
    local: Stager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain: bool
) -> None:
    """The gc looked before they were sent again, and deleted after."""
    source = make(tmp_path / "source", {"a": b"1" * 5000})
    local.ok("push", source, "data", *(["--plain"] if plain else []))
    local.ok("rm", "data@v1")
    age(local)

    class Late(Wrapper):
        """Another machine's delete arrives right after we looked at what we wrote."""

        def __init__(self, inner: ObjectStore) -> None:
            super().__init__(inner)
            self.written: set[str] = set()

        def put(self, key: str, data: Data) -> str:
            """Writes."""
            self.written.add(key)
            return self.inner.put(key, data)

        def head(self, key: str) -> ObjectInfo:
            """Answers, and the object is gone."""
            info = self.inner.head(key)
            if key.startswith(("packs/", "plain/")) and key in self.written:
                self.written.remove(key)
                self.inner.delete([key])
            return info

    workspace = local.workspace()
    workspace._stores[workspace.remote_url] = Late(workspace.remote)
    monkeypatch.setattr(renewal, "SETTLE_SECONDS", 0.0)
    with pytest.raises(StorageError, match="garbage"):
        push(workspace, PushRequest(source, parse_reference("data"), plain=plain))
    assert local.run("log", "data").code == 31
