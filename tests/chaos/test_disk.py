"""Disks that fill up or refuse: a clear error, nothing half done, and the next run completes.

T16 T54: the file system runs full in the middle, though there was room when it was asked.
"""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import corpus
from tests.support.command import Stager, contents

SIZE = 24 * 1024 * 1024


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def source(local: Stager, tmp_path: Path) -> Path:
    """`data@v1`, 20 MB."""
    folder = tmp_path / "source"
    folder.mkdir()
    corpus.jsonl(folder / "train.jsonl", 20_000_000, seed=1)
    local.ok("push", folder, "data")
    return folder


def test_T54_no_room_is_said_before_the_first_byte(
    local: Stager, source: Path, small_disk: Path
) -> None:
    ballast(small_disk, 10_000_000)
    node = local.at(small_disk / "cache")
    result = node.run("pull", "data@v1")
    assert result.code == 41
    assert "20.0 MB needed" in result.stderr
    assert not (node.cache / "datasets").exists()


def test_T16_a_disk_that_is_full_though_there_was_room(
    local: Stager, source: Path, small_disk: Path
) -> None:
    """No inodes are left: the check of free bytes passes, creating files fails half way."""
    corpus.small_files(source / "images", 80, 200, 2000, seed=2)
    local.ok("push", source, "data")
    node = local.at(small_disk / "cache")
    remount(small_disk, "nr_inodes=40")
    result = node.run("pull", "data@v2")
    assert result.code == 41, result.stderr
    assert node.run("path", "data@v2").code == 40
    remount(small_disk, "nr_inodes=10000")
    node.ok("pull", "data@v2")
    assert contents(node.path("data@v2")) == contents(source)


def test_a_remote_that_is_full_takes_no_version(
    tmp_path: Path, small_disk: Path, source: Path
) -> None:
    ballast(small_disk, SIZE - 2_000_000)
    stager = Stager(str(small_disk / "remote"), tmp_path / "cache")
    assert stager.run("push", source, "data").code == 41
    assert stager.run("log", "data").code == 31
    (small_disk / "ballast").unlink()
    stager.ok("push", source, "data")
    stager.ok("pull", "data@v1")
    assert contents(stager.path("data@v1")) == contents(source)


def test_a_cache_that_cannot_be_written_is_one_sentence(local: Stager, source: Path) -> None:
    local.cache.parent.mkdir(exist_ok=True)
    local.cache.write_text("not a folder")
    result = local.run("pull", "data@v1")
    assert result.code == 40
    assert "Traceback" not in result.stderr


def test_T16_a_disk_that_turns_read_only(local: Stager, source: Path, small_disk: Path) -> None:
    node = local.at(small_disk / "cache")
    node.cache.mkdir()
    remount(small_disk, "ro")
    result = node.run("pull", "data@v1")
    remount(small_disk, "rw")
    assert result.code in (40, 41) and "Traceback" not in result.stderr
    assert "read-only" in result.stderr.lower()
    assert not any(node.cache.rglob("*"))


@pytest.mark.parametrize("kind", ["local", "on_s3"])
def test_T16_few_descriptors_are_enough(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """`ulimit -n 256`, as some images set it: 3000 files, 64 connections, 16 uploads."""
    stager: Stager = request.getfixturevalue(kind)
    corpus.small_files(tmp_path / "many", 3000, 200, 900, seed=3)
    settings = {"STAGER_CONNECTIONS": "64", "STAGER_UPLOADS": "16", "STAGER_ENCODERS": "8"}
    limited(stager, settings, "push", tmp_path / "many", "many")
    limited(stager, settings, "push", tmp_path / "many", "plain", "--plain")
    for name in ("many", "plain"):
        node = stager.at(tmp_path / f"node of {name}")
        limited(node, settings, "pull", f"{name}@v1")
        assert contents(node.path(f"{name}@v1")) == contents(tmp_path / "many")


def limited(stager: Stager, settings: dict[str, str], *arguments: str | Path) -> None:
    """The command with 256 descriptors."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    process = stager.start(*arguments, **settings)
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (256, before[1]))
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr


def remount(disk: Path, option: str) -> None:
    """Changes an option of the file system."""
    subprocess.run(["mount", "-o", f"remount,{option}", str(disk)], check=True)


def ballast(disk: Path, size: int) -> None:
    """Fills `size` bytes, or what there is."""
    descriptor = os.open(disk / "ballast", os.O_WRONLY | os.O_CREAT)
    try:
        free = os.fstatvfs(descriptor).f_bavail * os.fstatvfs(descriptor).f_frsize
        os.posix_fallocate(descriptor, 0, min(size, free))
    finally:
        os.close(descriptor)
