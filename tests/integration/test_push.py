"""`stager push`, as a user types it."""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path

import pytest

from tests.support import corpus
from tests.support.command import Stager, contents


def make(folder: Path, files: dict[str, bytes]) -> Path:
    """A folder with these files."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def test_first_version_is_v1_and_the_second_v2(stager: Stager, tmp_path: Path) -> None:
    source = make(tmp_path / "data", {"a.jsonl": b'{"x": 1}\n'})
    assert stager.ok("push", source, "alpaca").stdout == "alpaca@v1\n"
    make(source, {"a.jsonl": b'{"x": 2}\n'})
    assert stager.ok("push", source, "alpaca").stdout == "alpaca@v2\n"


def test_pushing_the_same_again_makes_no_version(stager: Stager, tmp_path: Path) -> None:
    source = make(tmp_path / "data", {"a": b"1", "b/c": b"2"})
    stager.ok("push", source, "same")
    report = stager.json("push", source, "same")
    assert (report["version"], report["created"], report["bytes_stored"]) == ("v1", False, 0)


def test_report_holds_what_it_promises(stager: Stager, tmp_path: Path) -> None:
    source = make(tmp_path / "data", {"a": b"x" * 5000})
    report = stager.json("push", source, "r")
    keys = (
        "reference version tree path files bytes_raw bytes_transferred bytes_reused seconds limit"
    )
    assert set(keys.split()) <= set(report)
    assert set(report["requests"]) == {"get", "list", "head", "put", "delete"}
    assert report["tree"].startswith("blake3:")


def test_T32_an_edit_that_keeps_size_and_time_is_noticed(local: Stager, tmp_path: Path) -> None:
    source = make(tmp_path / "data", {"a": b"0123456789"})
    facts = os.stat(source / "a")
    local.ok("push", source, "edit")
    (source / "a").write_bytes(b"0123x56789")
    os.utime(source / "a", ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert local.ok("push", source, "edit").stdout == "edit@v2\n"


def test_an_edited_line_costs_its_neighbourhood(stager: Stager, tmp_path: Path) -> None:
    source = tmp_path / "data"
    source.mkdir()
    corpus.jsonl(source / "train.jsonl", 30_000_000, seed=1)
    first = stager.json("push", source, "big")
    lines = (source / "train.jsonl").read_bytes().splitlines(keepends=True)
    lines.insert(len(lines) // 2, b'{"inserted": true}\n')
    (source / "train.jsonl").write_bytes(b"".join(lines))
    second = stager.json("push", source, "big")
    assert second["bytes_stored"] < 0.25 * first["bytes_stored"]
    assert second["bytes_reused"] > 0.75 * second["bytes_raw"]
    stager.ok("pull", "big@v2")
    assert contents(stager.path("big@v2")) == contents(source)


def test_unchanged_small_files_are_not_stored_again(stager: Stager, tmp_path: Path) -> None:
    source = tmp_path / "data"
    corpus.small_files(source, 300, 2000, 20_000, seed=3)
    stager.ok("push", source, "small")
    changed = sorted(source.rglob("*"))[10]
    changed.write_bytes(random.Random(0).randbytes(7777))
    report = stager.json("push", source, "small")
    assert report["bytes_stored"] == 7777
    stager.ok("pull", "small@v2")
    assert contents(stager.path("small@v2")) == contents(source)


def test_a_single_file_is_a_version_of_one_file(stager: Stager, tmp_path: Path) -> None:
    source = make(tmp_path / "data", {"train.jsonl": b'{"a": 1}\n'})
    stager.ok("push", source / "train.jsonl", "one")
    stager.ok("pull", "one@v1")
    assert contents(stager.path("one@v1")) == {"train.jsonl": b'{"a": 1}\n'}


def test_a_label_can_be_given_once(stager: Stager, tmp_path: Path) -> None:
    source = make(tmp_path / "data", {"a": b"1"})
    assert stager.ok("push", source, "lab@cleaned").stdout == "lab@cleaned\n"
    assert stager.ok("push", source, "lab@cleaned").stdout == "lab@cleaned\n"  # the same content
    make(source, {"a": b"2"})
    assert stager.run("push", source, "lab@cleaned").code == 33


def test_T26_every_name_that_cannot_travel_is_named_at_once(local: Stager, tmp_path: Path) -> None:
    source = make(tmp_path / "data", {"ok": b"1", "Logo.png": b"1", "logo.png": b"2", "a\\b": b"3"})
    (source / "out").symlink_to("/etc/hostname")
    os.mkfifo(source / "pipe")
    result = local.run("push", source, "bad")
    assert result.code == 50
    for name in ("Logo.png", "a\\\\b", "out", "pipe"):
        assert name in result.stderr
    assert not local.remote_folder.joinpath("datasets").exists()


def test_T24_two_normal_forms_of_one_name_are_refused(local: Stager, tmp_path: Path) -> None:
    source = make(tmp_path / "data", {"caf\u00e9": b"1", "cafe\u0301": b"2"})
    result = local.run("push", source, "nfc")
    assert result.code == 50
    assert "normalise" in result.stderr


def test_T23_names_with_signs_that_urls_use(stager: Stager, tmp_path: Path) -> None:
    names = ("a+b.jsonl", "50%.jsonl", "a%2Bb.jsonl", "a b.jsonl", "[x]#?&=.txt", "数据/训练.jsonl")
    source = make(tmp_path / "data", {name: name.encode() for name in names})
    stager.ok("push", source, "signs")
    stager.ok("push", source, "signs-plain", "--plain")
    for reference in ("signs@v1", "signs-plain@v1"):
        stager.ok("pull", reference)
        assert contents(stager.path(reference)) == contents(source)


def test_plain_keeps_the_files_in_the_bucket(local: Stager, tmp_path: Path) -> None:
    source = tmp_path / "data"
    source.mkdir()
    corpus.incompressible(source / "large.bin", 40_000_000, seed=1)
    make(source, {"sub/small.txt": b"hello\n", "empty": b""})
    report = local.json("push", source, "plain", "--plain")
    kept = contents(next((local.remote_folder / "plain" / "plain").iterdir()))
    assert kept == contents(source)
    assert report["bytes_stored"] == sum(map(len, kept.values()))
    local.ok("pull", "plain@v1")
    assert contents(local.path("plain@v1")) == contents(source)


def test_plain_large_files_on_s3(on_s3: Stager, tmp_path: Path) -> None:
    source = tmp_path / "data"
    source.mkdir()
    corpus.incompressible(source / "large.bin", 70_000_000, seed=1)
    on_s3.ok("push", source, "plain", "--plain")
    on_s3.ok("pull", "plain@v1")
    assert contents(on_s3.path("plain@v1")) == contents(source)


def test_a_dry_run_changes_nothing(local: Stager, tmp_path: Path) -> None:
    source = make(tmp_path / "data", {"a": b"x" * 100_000})
    report = local.json("push", source, "dry", "--dry-run")
    assert report["dry_run"] and report["bytes_stored"] > 0
    assert not local.remote_folder.exists()


def test_a_file_written_to_meanwhile_is_reported(local: Stager, tmp_path: Path) -> None:
    source = tmp_path / "data"
    source.mkdir()
    corpus.jsonl(source / "log.jsonl", 60_000_000, seed=1)
    stop = threading.Event()

    def write() -> None:
        with open(source / "log.jsonl", "ab", buffering=0) as file:
            while not stop.is_set():
                file.write(b"{}\n")
                time.sleep(0.01)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        result = local.run("push", source, "moving")
    finally:
        stop.set()
        writer.join()
    assert result.code == 23
    assert "log.jsonl" in result.stderr
    assert local.run("log", "moving").code == 31


def test_two_pushes_at_once_both_become_versions(stager: Stager, tmp_path: Path) -> None:
    sources = [make(tmp_path / f"data{n}", {"a": str(n).encode()}) for n in range(4)]
    running = [stager.start("push", source, "race", "--json") for source in sources]
    ends = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0] * 4, ends
    found = {row["record"]["version"] for row in stager.json("log", "race")}
    assert found == {"v1", "v2", "v3", "v4"}
    pulled = set()
    for version in found:
        stager.ok("pull", f"race@{version}")
        pulled.add((stager.path(f"race@{version}") / "a").read_bytes())
    assert pulled == {b"0", b"1", b"2", b"3"}


@pytest.mark.parametrize("name", ["Upper", "a//b", "a/b/c/d/e", "a b", "", "tags", "-x"])
def test_names_that_are_none(local: Stager, tmp_path: Path, name: str) -> None:
    source = make(tmp_path / "data", {"a": b"1"})
    assert local.run("push", "--", source, name).code == 2
