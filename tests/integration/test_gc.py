"""`stager gc`, as a user types it: frees what nobody refers to, and fails closed."""

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
from stager.storage.local_store import TEMPORARY
from stager.storage.resilient import Wrapper
from stager.storage.store import Data, ObjectInfo, ObjectStore
from stager.workspace import Workspace
from tests.integration.test_push import make
from tests.support import corpus
from tests.support.command import Stager, contents

NOW = ("gc", "--delete", "--grace", "0s", "--force")
WEEKS = 30 * 86_400.0


def age(stager: Stager, seconds: float = WEEKS) -> None:
    """Makes everything in a local remote older."""
    for path in stager.remote_folder.rglob("*"):
        if path.is_file():
            moment = path.stat().st_mtime - seconds
            os.utime(path, (moment, moment))


def objects(stager: Stager) -> dict[str, int]:
    """Every object of a remote, temporary ones too, and its size."""
    store = stager.workspace().remote
    return {info.key: info.size for info in (*store.list(), *store.unfinished())}


def freed(report: Any) -> dict[str, int]:
    """How many objects of each kind a report says were freed."""
    return {kind: tally["objects"] for kind, tally in report["freed"].items()}


@pytest.fixture
def two(stager: Stager, tmp_path: Path) -> dict[str, dict[str, bytes]]:
    """Two versions in packs that share some, one plain and one adopted: what each holds."""
    source, held = tmp_path / "source", {}
    source.mkdir()
    corpus.jsonl(source / "train.jsonl", 3_000_000, seed=1)
    corpus.small_files(source / "images", 20, 2000, 20_000, seed=2)
    (source / "empty").touch()
    stager.ok("push", source, "data")
    held["data@v1"] = contents(source)
    lines = (source / "train.jsonl").read_bytes().splitlines(keepends=True)
    (source / "train.jsonl").write_bytes(b"".join([*lines[:50], b'{"new": 1}\n', *lines[90:]]))
    stager.ok("push", source, "data")
    held["data@v2"] = contents(source)
    mine = make(tmp_path / "plain", {"a": b"1" * 5000, "b/c": b"22", "empty": b""})
    stager.ok("push", mine, "plain/kept", "--plain")
    held["plain/kept@v1"] = contents(mine)
    return held


def whole(stager: Stager, held: dict[str, dict[str, bytes]], cache: Path) -> None:
    """Every one of these versions can be pulled on a new node."""
    node = stager.at(cache)
    for reference, expected in held.items():
        stager.ok("verify", reference, "--in-remote")
        node.ok("pull", reference)
        assert contents(node.path(reference)) == expected


def test_nothing_is_freed_of_what_versions_hold(
    stager: Stager, two: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    before = objects(stager)
    report = stager.json(*NOW)
    assert (report["versions"], report["freed"], report["dry_run"]) == (3, {}, False)
    assert objects(stager) == before
    whole(stager, two, tmp_path / "node")


def test_what_a_removed_version_held_alone_is_freed(
    stager: Stager, two: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    before = objects(stager)
    stager.ok("rm", "data@v2")
    report = stager.json(*NOW)
    assert {"packs", "indexes", "placements"} == set(freed(report))
    gone = before.keys() - objects(stager).keys() - {layout.version_key("data", "v2")}
    assert len(gone) == report["objects_freed"]
    assert sum(before[key] for key in gone) == report["bytes_freed"]
    del two["data@v2"]
    whole(stager, two, tmp_path / "node")


def test_a_base_that_is_removed_leaves_what_the_later_version_uses(
    stager: Stager, two: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    stager.ok("rm", "data@v1")
    stager.ok(*NOW)
    del two["data@v1"]
    whole(stager, two, tmp_path / "node")


def test_without_delete_nothing_is_deleted_and_nothing_written(
    stager: Stager, two: dict[str, dict[str, bytes]]
) -> None:
    stager.ok("rm", "data@v2")
    before = objects(stager)
    for arguments in (("gc",), ("gc", "--delete", "--dry-run")):
        report = stager.json(*arguments, "--grace", "0s", "--force")
        assert report["dry_run"] is True
        assert report["bytes_freed"] > 0
        assert {kind: report["requests"][kind] for kind in ("put", "delete")} == {
            "put": 0,
            "delete": 0,
        }
    assert "would free" in stager.ok("gc", "--grace", "0s", "--force").stdout
    assert objects(stager) == before
    done = stager.json(*NOW)
    assert done["freed"] == report["freed"]


def test_a_plain_version_goes_file_by_file_and_the_others_stay(
    stager: Stager, two: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    mine = make(tmp_path / "other", {"x": b"x" * 400, "empty": b""})
    stager.ok("push", mine, "plain", "--plain")
    stager.ok("rm", "plain@v1")
    assert freed(stager.json(*NOW)) == {"plain": 2, "placements": 1}
    left = [key for key in objects(stager) if key.startswith(layout.PLAIN)]
    assert sorted(key.split("/", 4)[4] for key in left) == ["a", "b/c", "empty"]
    whole(stager, two, tmp_path / "node")


def test_adopted_objects_are_never_touched(local: Stager, tmp_path: Path) -> None:
    inside = make(local.remote_folder / "raw" / "images", {"a": b"1" * 900, "b": b"2" * 800})
    outside = make(tmp_path / "mine", {"a": b"3" * 700})
    for folder in (inside, outside):
        local.ok("adopt", folder, folder.name)
    local.ok("pull", "images@v1")
    for name in ("images@v1", "mine@v1"):
        local.ok("rm", name)
    age(local)
    assert freed(local.json("gc", "--delete")) == {"placements": 2}
    assert contents(inside) == {"a": b"1" * 900, "b": b"2" * 800}
    assert contents(outside) == {"a": b"3" * 700}


def test_an_unhashed_version_keeps_both_placements_and_its_companion_goes_last(
    local: Stager, tmp_path: Path
) -> None:
    mine = make(tmp_path / "mine", {"a": b"1" * 900})
    local.ok("adopt", mine, "data", "--no-hash")
    local.ok("pull", "data@v1")
    age(local)
    assert local.json("gc", "--delete")["freed"] == {}
    local.ok("rm", "data@v1")
    assert local.json("gc", "--delete")["freed"] == {}
    age(local)
    assert freed(local.json("gc", "--delete")) == {"placements": 2, "companions": 1}
    assert local.json("gc", "--delete")["freed"] == {}


def test_the_grace_protects_what_is_young_and_what_was_removed_lately(
    local: Stager, tmp_path: Path
) -> None:
    source = make(tmp_path / "source", {"a": b"1" * 5000})
    local.ok("push", source, "data")
    age(local)
    local.ok("rm", "data@v1")
    report = local.json("gc", "--delete")
    assert (report["freed"], report["removed"], report["versions"]) == ({}, 1, 0)
    age(local, 5 * 86_400)
    assert local.json("gc", "--delete")["freed"] == {}
    everything = {"indexes": 1, "packs": 1, "placements": 1}
    assert freed(local.json("gc", "--grace", "4d")) == everything
    age(local, 3 * 86_400)
    assert freed(local.json("gc", "--delete")) == everything
    assert local.json("gc", "--delete", "--grace", "52w")["freed"] == {}


@pytest.mark.parametrize("grace", ["0s", "119m", "7", "soon"])
def test_a_grace_that_cannot_be_is_refused(local: Stager, tmp_path: Path, grace: str) -> None:
    local.ok("push", make(tmp_path / "source", {"a": b"1"}), "data")
    result = local.run("gc", "--delete", "--grace", grace)
    assert result.code == 2
    local.ok("gc", "--delete", "--grace", "2h")


def test_what_killed_writers_left_is_freed_when_it_is_old(local: Stager, tmp_path: Path) -> None:
    local.ok("push", make(tmp_path / "source", {"a": b"1"}), "data")
    left = {
        f"packs/aa/{TEMPORARY}7-00": b"half",
        f"datasets/data/versions/{TEMPORARY}8-00": b"half",
        "probes/0123456789abcdef": b"first",
    }
    make(local.remote_folder, left)
    assert local.json("gc", "--delete")["freed"] == {}
    age(local)
    assert freed(local.json("gc", "--delete")) == {"probes": 1, "unfinished": 2}
    assert not left.keys() & objects(local).keys()
    local.ok("verify", "data@v1", "--in-remote")


def test_T17_what_others_put_there_stays(local: Stager, tmp_path: Path) -> None:
    local.ok("push", make(tmp_path / "source", {"a": b"1"}), "data")
    keys = (
        "packs/README",
        f"packs/aa/{'b' * 64}",
        "plain/photos/2024/x.jpg",
        "probes/mine",
        "derived/aa/bb/tokens",
        "runs/r/1/model",
        "mine/data",
        "datasets/data/notes.txt",
    )
    theirs = dict.fromkeys(keys, b"1")
    make(local.remote_folder, theirs)
    age(local)
    assert local.json("gc", "--delete")["freed"] == {}
    assert theirs.keys() <= objects(local).keys()


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


def test_two_at_once_are_one(
    stager: Stager, two: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    stager.ok("rm", "data@v2")
    running = [stager.start(*NOW) for _ in range(3)]
    ends = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], ends
    del two["data@v2"]
    whole(stager, two, tmp_path / "node")


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
        """Another machine's delete arrives right after our write."""

        def put(self, key: str, data: Data) -> str:
            """Writes, and the object is gone."""
            etag = self.inner.put(key, data)
            if key.startswith(("packs/", "plain/")):
                self.inner.delete([key])
            return etag

    workspace = local.workspace()
    workspace._stores[workspace.remote_url] = Late(workspace.remote)
    monkeypatch.setattr(renewal, "SETTLE_SECONDS", 0.0)
    with pytest.raises(StorageError, match="garbage"):
        push(workspace, PushRequest(source, parse_reference("data"), plain=plain))
    assert local.run("log", "data").code == 31
