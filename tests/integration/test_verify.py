"""`stager verify`: here, in the remote, and mending."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.integration.test_push import make
from tests.support import corpus
from tests.support.command import Stager, contents


@pytest.fixture
def staged(local: Stager, tmp_path: Path) -> Path:
    """`data@v1`, staged; its source."""
    source = tmp_path / "source"
    source.mkdir()
    corpus.jsonl(source / "train.jsonl", 12_000_000, seed=5)
    corpus.small_files(source / "images", 50, 2000, 20_000, seed=6)
    local.ok("push", source, "data")
    local.ok("pull", "data@v1")
    return source


def damage(path: Path, offset: int) -> None:
    """Flips one bit and restores the times, as a bad disk would."""
    facts = os.stat(path)
    os.chmod(path, 0o644)
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)
        file.seek(offset)
        file.write(bytes([byte[0] ^ 1]))
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    os.chmod(path, 0o444)


def test_sound(local: Stager, staged: Path) -> None:
    report = local.json("verify", "data@v1")
    assert report["checked"] == len(contents(staged))
    assert report["damaged"] == {}


def test_T09_a_flipped_bit_is_found_though_size_and_times_are_right(
    local: Stager, staged: Path
) -> None:
    damage(local.path("data@v1") / "train.jsonl", 7_000_000)
    result = local.run("verify", "data@v1", "--json")
    assert result.code == 21
    assert list(result.json()["damaged"]) == ["train.jsonl"]


def test_repair_fetches_only_what_is_wrong(local: Stager, staged: Path) -> None:
    folder = local.path("data@v1")
    stored = local.placement("data@v1").bytes_stored
    damage(folder / "train.jsonl", 7_000_000)
    report = local.json("verify", "data@v1", "--repair")
    assert report["repaired"]
    assert 0 < report["bytes_transferred"] < 0.7 * stored
    assert contents(local.path("data@v1")) == contents(staged)
    assert local.ok("verify", "data@v1").code == 0


def test_repair_of_a_deleted_file(local: Stager, staged: Path) -> None:
    victim = next(path for path in (local.path("data@v1") / "images").rglob("*") if path.is_file())
    victim.unlink()
    local.ok("verify", "data@v1", "--repair")
    assert contents(local.path("data@v1")) == contents(staged)


@pytest.mark.parametrize("what", ["longer", "folder"])
def test_repair_of_what_no_frame_would_set_right(local: Stager, staged: Path, what: str) -> None:
    victim = local.path("data@v1") / "train.jsonl"
    victim.chmod(0o644)
    if what == "longer":
        with victim.open("ab") as file:
            file.write(b"more")
    else:
        victim.unlink()
        victim.mkdir()
    local.ok("verify", "data@v1", "--repair")
    assert contents(local.path("data@v1")) == contents(staged)


def test_repair_does_not_write_through_hard_links(
    local: Stager, staged: Path, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    local.ok("pull", "data@v1", place)
    damage(local.path("data@v1") / "train.jsonl", 7_000_000)
    before = (place / "train.jsonl").stat().st_ino
    local.ok("verify", "data@v1", "--repair")
    assert (place / "train.jsonl").stat().st_ino == before
    assert (local.path("data@v1") / "train.jsonl").stat().st_ino != before


def test_in_remote_names_every_damaged_pack(local: Stager, staged: Path) -> None:
    assert local.ok("verify", "data@v1", "--in-remote").code == 0
    make(staged, {"other.bin": os.urandom(2_000_000)})
    local.ok("push", staged, "data")
    packs = [path for path in (local.remote_folder / "packs").rglob("*") if path.is_file()]
    assert len(packs) == 2
    for pack in packs:
        os.chmod(pack, 0o644)
        damage(pack, 1000)
    result = local.run("verify", "data@v2", "--in-remote", "--json")
    assert result.code == 21
    named = "".join(result.json()["damaged"])
    assert all(pack.name in named for pack in packs)


def test_what_is_not_staged_cannot_be_verified_here(local: Stager, staged: Path) -> None:
    local.ok("cache", "rm", "data@v1")
    assert local.run("verify", "data@v1").code == 40
