"""`stager gc`, as a user types it: frees what nobody refers to, and fails closed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from stager.model import layout
from stager.storage.local_store import TEMPORARY
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


def test_two_at_once_are_one(
    stager: Stager, two: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    stager.ok("rm", "data@v2")
    running = [stager.start(*NOW) for _ in range(3)]
    ends = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], ends
    del two["data@v2"]
    whole(stager, two, tmp_path / "node")
