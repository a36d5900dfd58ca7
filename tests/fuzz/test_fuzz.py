"""A short run of every target, and that the driver sees what it is there to see."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from stager.errors import UsageError
from tests.fuzz.drive import Fault, drive
from tests.fuzz.targets import Target, targets

INPUTS = 400
NAMES = [target.name for target in targets(Path())]


@pytest.mark.parametrize("name", NAMES)
def test_T61_a_parser_bears_what_nobody_wrote(name: str, tmp_path: Path) -> None:
    target = next(each for each in targets(tmp_path) if each.name == name)
    count = drive(target, INPUTS, seed=7)
    assert count.inputs == INPUTS
    assert count.refused or name in ("lfs pointer", "git address", "key")


def test_some_inputs_of_every_kind_are_accepted(tmp_path: Path) -> None:
    """Else the changes would be so large that only the first check of a parser is tried."""
    counts = [drive(target, INPUTS, seed=8) for target in targets(tmp_path)]
    exact = {"stored placement", "frame"}  # their digest takes nothing but the seed
    assert [count.name for count in counts if not count.accepted and count.name not in exact] == []


def test_the_driver_finds_a_crash_and_tells_the_input() -> None:
    def parse(data: bytes) -> object:
        if data.startswith(b"good"):
            return data
        if len(data) > 3:
            raise UsageError(reason="bad")
        return data[3]

    with pytest.raises(Fault, match="IndexError"):
        drive(Target("planted", [b"good"], parse), 2000, seed=1)


def test_the_driver_finds_what_takes_too_long() -> None:
    def parse(data: bytes) -> object:
        if data != b"good":
            time.sleep(2.1)
        return data

    with pytest.raises(Fault, match=r"2\.\d s"):
        drive(Target("planted", [b"good"], parse), 100, seed=1)
