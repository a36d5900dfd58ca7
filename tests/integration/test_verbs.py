"""The verbs around push and pull: log, ls, show, tag, cache, init, demo."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.test_push import make
from tests.support.command import Stager, contents


@pytest.fixture
def two(stager: Stager, tmp_path: Path) -> Path:
    """`data@v1` and `data@v2`."""
    source = make(tmp_path / "source", {"a.jsonl": b'{"x": 1}\n', "b/c": b"2"})
    stager.ok("push", source, "data", "-m", "first")
    make(source, {"a.jsonl": b'{"x": 2}\n'})
    stager.ok("push", source, "data", "-m", "second")
    return source


def test_log_is_newest_first_with_tags(stager: Stager, two: Path) -> None:
    stager.ok("tag", "data@v1", "prod")
    rows = stager.json("log", "data")
    assert [row["record"]["version"] for row in rows] == ["v2", "v1"]
    assert rows[1]["tags"] == ["prod"]
    assert rows[0]["record"]["parent"] == "v1"
    text = stager.ok("log", "data").stdout.splitlines()
    assert text[0].startswith("v2") and text[0].endswith("second")


def test_log_of_nothing(stager: Stager, two: Path) -> None:
    assert stager.run("log", "dat").code == 31


def test_T38_ls_of_files_is_two_requests(stager: Stager, two: Path) -> None:
    assert stager.ok("ls").stdout == "data\n"
    assert stager.ok("ls", "data@v1").stdout == "a.jsonl\nb/c\n"
    assert stager.json("ls", "data@v1", "-l")[0]["size"] == 9


def test_show(stager: Stager, two: Path) -> None:
    facts = stager.json("show", "data@v2")
    assert facts["message"] == "second" and facts["files"] == 2
    assert "placements/" in stager.ok("show", "data@v1").stdout


def test_tags_move_and_go(stager: Stager, two: Path) -> None:
    assert stager.ok("tag", "data@v1", "prod").stdout == "data@prod -> v1\n"
    assert stager.json("tag", "data", "prod")["before"] == "v1"
    assert stager.json("show", "data@prod")["version"] == "v2"
    stager.ok("tag", "data", "prod", "--delete")
    assert stager.run("show", "data@prod").code == 31


@pytest.mark.parametrize("label", ["latest", "v7", "-x", "a/b"])
def test_tags_that_cannot_be(stager: Stager, two: Path, label: str) -> None:
    assert stager.run("tag", "--", "data@v1", label).code == 2


def test_a_tag_cannot_hide_a_version_nor_a_version_a_tag(stager: Stager, two: Path) -> None:
    stager.ok("push", two, "data@cleaned")
    assert stager.run("tag", "data@v1", "cleaned").code == 33
    stager.ok("tag", "data@v1", "prod")
    assert stager.run("push", two, "data@prod").code == 33


def test_two_who_move_a_tag_at_once_do_not_both_win(stager: Stager, two: Path) -> None:
    running = [stager.start("tag", f"data@v{1 + n % 2}", "prod") for n in range(8)]
    codes = [process.wait(timeout=60) for process in running]
    for process in running:
        process.communicate()
    assert set(codes) <= {0, 32}
    assert 0 in codes
    assert stager.json("show", "data@prod")["version"] in ("v1", "v2")


def test_cache(stager: Stager, two: Path) -> None:
    stager.ok("pull", "data@v1")
    stager.ok("pull", "data@v2")
    assert {row["reference"] for row in stager.json("cache", "ls")} == {"data@v1", "data@v2"}
    stager.ok("cache", "pin", "data@v1")
    assert stager.run("cache", "rm", "data@v1").code == 40
    stager.ok("cache", "unpin", "data@v1")
    assert "would remove" in stager.ok("cache", "rm", "data@v1", "--dry-run").stdout
    assert stager.path("data@v1").is_dir()
    stager.ok("cache", "rm", "data@v1")
    assert stager.run("path", "data@v1").code == 40
    assert [row["reference"] for row in stager.json("cache", "ls")] == ["data@v2"]
    assert contents(stager.path("data@v2")) == contents(two)


def test_init_and_its_file(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stager"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("STAGER_")}
    clean |= {"HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    below = tmp_path / "project" / "below"
    below.mkdir(parents=True)

    def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *arguments],
            cwd=folder,
            env=clean,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    nothing = run("ls", folder=below)
    assert nothing.returncode == 3
    assert "remote = " in nothing.stderr and "cache = " in nothing.stderr
    made = run("init", "--remote", "remote", "--cache", "cache", folder=tmp_path / "project")
    assert made.returncode == 0
    assert run("init", "--remote", "x", "--cache", "y", folder=tmp_path / "project").returncode == 2
    make(below, {"a": b"1"})
    assert run("push", ".", "data", folder=below).stdout == "data@v1\n"
    assert (tmp_path / "project" / "remote" / "datasets" / "data").is_dir()


def test_demo(tmp_path: Path, local: Stager) -> None:
    report = local.json("demo", tmp_path / "demo")
    first, second = report["pushes"]
    assert second["bytes_transferred"] < 0.2 * first["bytes_transferred"]
    for pull in report["pulls"]:
        assert (Path(pull["path"]) / "train.jsonl").is_file()
    assert all(verified["damaged"] == {} for verified in report["verified"])
    local.ok("demo", tmp_path / "demo")  # it may be run again
    make(tmp_path / "mine", {"precious": b"1"})
    assert local.run("demo", tmp_path / "mine").code == 2


def test_errors_in_json(stager: Stager, two: Path) -> None:
    result = stager.run("pull", "data@v9", "--json")
    assert result.code == 31
    assert result.json()["error"] == "VersionNotFound"
    assert result.json()["exit_code"] == 31
