"""`stager pull`, as a user types it."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.test_push import make
from tests.support import corpus
from tests.support.command import Stager, contents


@pytest.fixture
def pushed(stager: Stager, tmp_path: Path) -> Path:
    """A version `data@v1` with a large file, small ones, an empty one and a deep one."""
    source = tmp_path / "source"
    source.mkdir()
    corpus.jsonl(source / "train.jsonl", 9_000_000, seed=5)
    corpus.small_files(source / "images", 60, 2000, 20_000, seed=6)
    make(source, {"empty": b"", "a/b/c/d.txt": b"deep\n", "no-newline": b"x"})
    stager.ok("push", source, "data")
    return source


def test_prints_the_path_and_nothing_else_on_stdout(stager: Stager, pushed: Path) -> None:
    result = stager.ok("pull", "data@v1")
    assert contents(Path(result.stdout.rstrip("\n"))) == contents(pushed)
    assert result.stdout.count("\n") == 1


def test_a_named_pull_lists_nothing_and_reads_two_metadata_objects(
    stager: Stager, pushed: Path
) -> None:
    report = stager.json("pull", "data@v1")
    data_requests = report["requests"]["get"] - 2
    assert report["requests"]["list"] == 0
    assert report["requests"]["head"] == report["requests"]["put"] == 0
    assert 1 <= data_requests <= 16
    assert report["bytes_raw"] == sum(map(len, contents(pushed).values()))


def test_T13_a_complete_version_costs_no_request(stager: Stager, pushed: Path) -> None:
    stager.ok("pull", "data@v1")
    report = stager.json("pull", "data@v1")
    assert sum(report["requests"].values()) == 0
    assert report["bytes_transferred"] == 0


def test_a_complete_version_needs_no_remote(local: Stager, tmp_path: Path) -> None:
    local.ok("push", make(tmp_path / "data", {"a": b"1"}), "off")
    local.ok("pull", "off@v1")
    os.rename(local.remote, f"{local.remote}-away")
    assert local.ok("pull", "off@v1").stdout.strip() == str(local.path("off@v1"))


def test_files_are_read_only(stager: Stager, pushed: Path) -> None:
    stager.ok("pull", "data@v1")
    for path in stager.path("data@v1").rglob("*"):
        if path.is_file():
            assert path.stat().st_mode & 0o777 == 0o444


def test_latest_and_tags_follow(stager: Stager, pushed: Path) -> None:
    stager.ok("tag", "data@v1", "prod")
    make(pushed, {"more": b"2"})
    stager.ok("push", pushed, "data")
    assert stager.json("pull", "data")["version"] == "v2"
    assert stager.json("pull", "data@latest")["version"] == "v2"
    assert stager.json("pull", "data@prod")["version"] == "v1"


def test_identical_files_come_from_the_staged_version(stager: Stager, pushed: Path) -> None:
    stager.ok("pull", "data@v1")
    make(pushed, {"more": b"y" * 1000})
    stager.ok("push", pushed, "data")
    report = stager.json("pull", "data@v2")
    assert report["bytes_transferred"] < 10_000
    assert report["bytes_reused"] > 0.99 * report["bytes_raw"]
    assert contents(stager.path("data@v2")) == contents(pushed)


def test_an_edited_staged_file_is_noticed_and_not_spread(stager: Stager, pushed: Path) -> None:
    stager.ok("pull", "data@v1")
    victim = stager.path("data@v1") / "train.jsonl"
    os.chmod(victim, 0o644)
    with open(victim, "r+b") as file:
        file.seek(4_000_000)
        file.write(b"EDITED")
    assert stager.run("path", "data@v1").code == 40
    make(pushed, {"more": b"y"})
    stager.ok("push", pushed, "data")
    stager.ok("pull", "data@v2")
    assert contents(stager.path("data@v2")) == contents(pushed)


def test_an_edited_staged_version_is_mended_by_the_next_pull(stager: Stager, pushed: Path) -> None:
    first = stager.json("pull", "data@v1")
    victim = stager.path("data@v1") / "train.jsonl"
    os.chmod(victim, 0o644)
    with open(victim, "r+b") as file:
        file.seek(4_000_000)
        file.write(b"EDITED")
    again = stager.json("pull", "data@v1")
    assert 0 < again["bytes_transferred"] < 0.7 * first["bytes_transferred"]
    assert contents(stager.path("data@v1")) == contents(pushed)


def test_T04_a_version_that_is_not_complete_has_no_path(stager: Stager, pushed: Path) -> None:
    assert stager.run("path", "data@v1").code == 40
    stager.ok("pull", "data@v1")
    (stager.path("data@v1") / "images").rename(stager.cache / "taken")
    assert stager.run("path", "data@v1").code == 40


def test_destination(stager: Stager, pushed: Path, tmp_path: Path) -> None:
    place = tmp_path / "deep" / "down" / "here"
    assert stager.ok("pull", "data@v1", place).stdout.strip() == str(place)
    assert contents(place) == contents(pushed)
    assert sum(stager.json("pull", "data@v1", place)["requests"].values()) == 0


def test_destination_that_is_not_ours_is_refused(
    stager: Stager, pushed: Path, tmp_path: Path
) -> None:
    place = make(tmp_path / "here", {"precious": b"1"})
    assert stager.run("pull", "data@v1", place).code == 43
    assert contents(place) == {"precious": b"1"}


def test_destination_is_replaced_by_another_version_only_while_unedited(
    stager: Stager, pushed: Path, tmp_path: Path
) -> None:
    place = tmp_path / "here"
    stager.ok("pull", "data@v1", place)
    make(pushed, {"more": b"2"})
    stager.ok("push", pushed, "data")
    stager.ok("pull", "data@v2", place)
    assert contents(place) == contents(pushed)
    (place / "mine").write_bytes(b"do not lose me")
    assert stager.run("pull", "data@v1", place).code == 43
    assert (place / "mine").read_bytes() == b"do not lose me"


def test_receipt_copy(stager: Stager, pushed: Path, tmp_path: Path) -> None:
    receipt = tmp_path / "data.receipt.json"
    stager.ok("pull", "data@v1", "--receipt", receipt)
    first = receipt.read_bytes()
    stager.ok("pull", "data@v1", "--receipt", receipt)
    assert receipt.read_bytes() == first


def test_a_dry_run_says_what_would_come(stager: Stager, pushed: Path) -> None:
    report = stager.json("pull", "data@v1", "--dry-run")
    assert report["dry_run"] and report["bytes_transferred"] > 0
    assert not (stager.cache / "datasets").exists()


def test_T54_a_version_that_cannot_fit_is_refused_with_both_numbers(
    stager: Stager, pushed: Path
) -> None:
    result = stager.run("pull", "data@v1", STAGER_FREE_FLOOR=str(10**18))
    assert result.code == 41
    assert "needed" in result.stderr and "free" in result.stderr
    assert not (stager.cache / "datasets").exists()


def test_nothing_that_was_asked_for_is_near(stager: Stager, pushed: Path) -> None:
    result = stager.run("pull", "dato@v1")
    assert result.code == 31
    assert "did you mean data" in result.stderr
    result = stager.run("pull", "data@v11")
    assert result.code == 31
    assert "v1" in result.stderr


def test_T49_eight_at_once_make_one_download(stager: Stager, pushed: Path) -> None:
    running = [stager.start("pull", "data@v1", "--json") for _ in range(8)]
    reports = []
    for process in running:
        stdout, stderr = process.communicate(timeout=120)
        assert process.returncode == 0, stderr
        reports.append(stdout)
    import json

    parsed = [json.loads(report) for report in reports]
    assert len({report["path"] for report in parsed}) == 1
    downloads = [report for report in parsed if report["bytes_transferred"] > 100_000]
    assert len(downloads) == 1
    assert contents(Path(parsed[0]["path"])) == contents(pushed)


@pytest.mark.parametrize("make_file", [corpus.jsonl, corpus.incompressible])
def test_T30_a_pack_with_a_flipped_byte_never_becomes_a_version(
    local: Stager, tmp_path: Path, make_file: Callable[[Path, int, int], object]
) -> None:
    source = tmp_path / "data"
    source.mkdir()
    make_file(source / "train", 5_000_000, 5)
    local.ok("push", source, "flip")
    pack = next(path for path in (local.remote_folder / "packs").rglob("*") if path.is_file())
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 1
    pack.write_bytes(data)
    result = local.run("pull", "flip@v1")
    assert result.code == 21
    assert str(pack.relative_to(local.remote_folder)) in result.stderr
    assert local.run("path", "flip@v1").code == 40


def test_T28_neighbouring_names_do_not_mix(local: Stager, tmp_path: Path) -> None:
    for name in ("c4", "c4-en", "c4/en"):
        local.ok("push", make(tmp_path / name, {"a": name.encode()}), name)
    for name in ("c4", "c4-en", "c4/en"):
        assert len(local.json("log", name)) == 1
        local.ok("pull", f"{name}@v1")
        assert (local.path(f"{name}@v1") / "a").read_bytes() == name.encode()


def test_real_inputs_come_back_identical(stager: Stager, real_input: Path) -> None:
    stager.ok("push", real_input, "real")
    stager.ok("pull", "real@v1")
    assert contents(stager.path("real@v1")) == contents(real_input)


def test_T03_many_files_resume(local: Stager, tmp_path: Path) -> None:
    source = tmp_path / "data"
    corpus.small_files(source, 2000, 2000, 20_000, seed=9)
    stored = local.json("push", source, "many")["bytes_stored"]
    process = local.start("pull", "many@v1", STAGER_CONNECTIONS="1")
    staging = local.cache / "staging"
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if sum(1 for _ in staging.rglob("*.bin")) > 1000 or _files(staging) > 1000:
            process.kill()
            break
    process.communicate()
    report = local.json("pull", "many@v1")
    assert report["bytes_transferred"] < 0.75 * stored
    assert contents(local.path("many@v1")) == contents(source)


def _files(folder: Path) -> int:
    return sum(len(files) for _, _, files in os.walk(folder))


def test_random_trees_come_back_identical(local: Stager, tmp_path: Path) -> None:
    dice = random.Random(11)
    for number in range(5):
        files = {
            f"{dice.randrange(4)}/{dice.randrange(9)}/f{at}": dice.randbytes(
                dice.choice((0, 1, 100, 70_000, 1_048_575, 1_048_576, 3_000_000))
            )
            for at in range(12)
        }
        source = make(tmp_path / f"tree{number}", files)
        local.ok("push", source, f"tree{number}")
        local.ok("pull", f"tree{number}@v1")
        assert contents(local.path(f"tree{number}@v1")) == files
