"""Ctrl-C, SIGTERM and a terminal: a verb stops at once, says so, and can be run again."""

from __future__ import annotations

import os
import pty
import signal
import time
from pathlib import Path

import pytest

from tests.support import corpus
from tests.support.command import PROGRAM, Stager, contents


@pytest.fixture
def source(local: Stager, tmp_path: Path) -> Path:
    """`data@v1`, large enough to be caught in the middle."""
    folder = tmp_path / "source"
    folder.mkdir()
    corpus.jsonl(folder / "train.jsonl", 60_000_000, seed=1)
    local.ok("push", folder, "data")
    return folder


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_T71_a_signal_ends_a_pull_and_the_next_one_continues(
    local: Stager, source: Path, number: signal.Signals
) -> None:
    process = local.start("pull", "data@v1", STAGER_CONNECTIONS="1")
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not list((local.cache / "staging").glob("*/train.jsonl")):
        time.sleep(0.002)
    process.send_signal(number)
    asked = time.monotonic()
    _, stderr = process.communicate(timeout=30)
    if process.returncode == 0:
        pytest.fail("the pull was over before the signal; make the data larger")
    assert process.returncode == 130
    assert time.monotonic() - asked < 5
    assert "continues" in stderr and "Traceback" not in stderr
    local.ok("pull", "data@v1")
    assert contents(local.path("data@v1")) == contents(source)


def test_a_terminal_gets_a_bar_and_its_cursor_back_when_the_pull_fails(
    local: Stager, source: Path
) -> None:
    pack = max((local.remote_folder / "packs").rglob("*"), key=lambda path: path.stat().st_size)
    data = bytearray(pack.read_bytes())
    data[-10] ^= 1
    pack.write_bytes(data)
    child, terminal = pty.fork()
    if child == 0:
        os.execve(PROGRAM[0], [*PROGRAM, "pull", "data@v1"], {**local.variables(), "TERM": "xterm"})
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        shown += part
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 21
    assert shown.count(b"\x1b[?25h") >= shown.count(b"\x1b[?25l") > 0
