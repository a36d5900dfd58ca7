"""`stager du`, as a user types it: its numbers are those of the store and of gc."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from stager.model import layout
from tests.integration.test_gc import NOW, objects
from tests.integration.test_push import make
from tests.support import corpus
from tests.support.command import Stager


@pytest.fixture
def shared(stager: Stager, tmp_path: Path) -> Stager:
    """Versions that share frames, one plain, one adopted, one in another dataset, and garbage."""
    source = tmp_path / "source"
    source.mkdir()
    corpus.jsonl(source / "train.jsonl", 3_000_000, seed=1)
    corpus.small_files(source / "images", 20, 2000, 20_000, seed=2)
    stager.ok("push", source, "data")
    changed = sorted((source / "images").rglob("*.*"))[3]
    changed.write_bytes(random.Random(0).randbytes(7777))
    stager.ok("push", source, "data")
    stager.ok("push", source / "train.jsonl", "other", "--base", "data@v1")
    plain = make(tmp_path / "plain", {"a": b"1" * 5000, "empty": b""})
    stager.ok("push", plain, "plain", "--plain")
    stager.ok("push", make(tmp_path / "gone", {"a": random.Random(1).randbytes(9000)}), "gone")
    stager.ok("rm", "gone@v1")
    return stager


def test_the_numbers_add_up_to_what_lies_in_the_store(shared: Stager) -> None:
    report = shared.json("du")
    rows = {row["reference"]: row for row in report["versions"]}
    assert list(rows) == ["data@v1", "data@v2", "other@v1", "plain@v1"]
    assert rows["data@v2"]["added"] == 7777
    assert rows["other@v1"]["added"] == 0
    assert rows["other@v1"]["shared"] > 0
    assert rows["plain@v1"]["added"] == 5000
    assert report["stored"] == sum(row["added"] for row in rows.values())
    content = sum(
        size
        for key, size in objects(shared).items()
        if key.startswith(tuple(layout.PREFIXES.values()))
    )
    parts = ("stored", "dead", "metadata", "unreferenced")
    assert sum(report[part] for part in parts) == content
    assert report["unreferenced"] > 9000
    assert report["whole"] == sum(row["raw"] for row in rows.values())
    used = report["stored"] + report["dead"] + report["metadata"]
    assert report["ratio"] == round(report["whole"] / used, 2)


def test_a_removal_frees_what_was_said(shared: Stager) -> None:
    shared.ok(*NOW)
    for reference in ("data@v1", "other@v1", "data@v2", "plain@v1"):
        rows = {row["reference"]: row for row in shared.json("du")["versions"]}
        shared.ok("rm", reference)
        assert shared.json(*NOW)["bytes_freed"] == rows[reference]["frees"]
    assert shared.json("du")["versions"] == []


def test_only_the_datasets_that_were_named(shared: Stager) -> None:
    everything = shared.json("du")
    report = shared.json("du", "other", "plain")
    assert [row["reference"] for row in report["versions"]] == ["other@v1", "plain@v1"]
    assert report["stored"] == everything["stored"]
    result = shared.run("du", "othre", "nothing", "data")
    assert result.code == 31
    assert "othre, nothing" in result.stderr
    assert shared.run("du", "Bad Name").code == 2


@pytest.mark.parametrize("options", [(), ("--no-hash",)], ids=["hashed", "by ETag"])
def test_adopted_versions_cost_nothing(
    local: Stager, tmp_path: Path, options: tuple[str, ...]
) -> None:
    inside = make(local.remote_folder / "raw", {"a": b"1" * 9000})
    for number, folder in enumerate((inside, make(tmp_path / "mine", {"a": b"2" * 7000}))):
        local.ok("adopt", folder, f"set{number}", *options)
        local.ok("pull", f"set{number}@v1")
    report = local.json("du")
    assert [(row["raw"], row["added"], row["shared"]) for row in report["versions"]] == [
        (9000, 0, 0),
        (7000, 0, 0),
    ]
    assert report["stored"] == report["dead"] == report["unreferenced"] == report["whole"] == 0
    placements = [size for key, size in objects(local).items() if key.startswith("placements/")]
    assert report["metadata"] == sum(placements)
    assert sum(row["frees"] for row in report["versions"]) == sum(placements)


def test_an_empty_remote_and_a_table(local: Stager, tmp_path: Path) -> None:
    assert local.json("du")["versions"] == []
    local.ok("push", make(tmp_path / "source", {"a": b"1" * 5000}), "data")
    shown = local.ok("du")
    assert shown.stdout.startswith("data@v1  5.0 kB")
    assert "times as much" in shown.stderr
