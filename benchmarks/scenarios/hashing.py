"""What a push pays to find known records: hashing and matching on one core, and memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from benchmarks.comparison import AtLeast, Comparison, Contender
from benchmarks.edits import edited
from benchmarks.measure import BenchmarkFailed, Command, Sample
from benchmarks.peers.peer import package_version
from benchmarks.rounds import Scenario
from benchmarks.workspace import MEGABYTE, Workspace

SIZE = 256 * MEGABYTE
UNITS = 10_000_000
LEAST_SPEED = 1.0  # GB of the new version a second of processor time
LEAST_FOUND = 0.95  # of the bytes of an edit that leaves more than that alone
ROOT = Path(__file__).parents[2]
GIGABYTE = 1e9


def comparisons(space: Workspace) -> Iterator[Comparison]:
    """Speed on an edit, then memory on made-up units."""
    if not space.wants("stager"):
        return
    first = space.jsonl(SIZE)
    edit = edited(first, space.disk / "edit", seed=11)
    yield Comparison(
        title=f"records of {space.scaled(SIZE) / MEGABYTE:,.0f} MB JSONL found in its base",
        amount=space.scaled(SIZE) / MEGABYTE,
        unit="MB",
        contenders=[partial(_speed, *(folder / "train.jsonl" for folder in (first, edit)))],
        bars=[AtLeast("stager", "hashing_and_matching_GB/s", LEAST_SPEED, "GB/s")],
    )
    count = space.scaled(UNITS)
    yield Comparison(
        title=f"memory of a table of {count:,} units",
        amount=count,
        unit="units",
        contenders=[partial(_memory, count)],
        bars=[],
        most_rounds=1,
    )


def _speed(first: Path, edit: Path) -> Contender:
    def prove(ran: Command, scratch: Path, sample: Sample) -> Mapping[str, float]:
        del ran, scratch
        took = json.loads(sample.output)
        if not LEAST_FOUND <= took["found"] / took["raw"] < 1:
            raise BenchmarkFailed(f"{took['found']} of {took['raw']} bytes found")
        both = took["hashing"] + took["matching"]
        times = {
            "hashing": took["hashing"],
            "matching": took["matching"],
            "hashing_and_matching": both,
            "with_the_table_made": both + took["building"],
        }
        return {f"{name}_GB/s": took["raw"] / GIGABYTE / time for name, time in times.items()}

    return _contender((str(first), str(edit)), "BASE EDIT", prove)


def _memory(count: int) -> Contender:
    def prove(ran: Command, scratch: Path, sample: Sample) -> Mapping[str, float]:
        del ran, scratch
        took = json.loads(sample.output)
        return {f"{name}_bytes_a_unit": took[name] for name in ("peak", "kept")}

    return _contender(("--units", str(count)), f"--units {count}", prove)


def _contender(
    arguments: tuple[str, ...],
    shown: str,
    prove: Callable[[Command, Path, Sample], Mapping[str, float]],
) -> Contender:
    command = Command((sys.executable, "-m", "benchmarks.matching", *arguments), directory=ROOT)
    return Contender(
        name="stager",
        version=package_version("stager"),
        shown=f"python -m benchmarks.matching {shown}",
        command=lambda _: command,
        prove=prove,
    )


SCENARIO = Scenario(
    name="hashing",
    question="How fast are known records found, and how much memory does that take?",
    comparisons=comparisons,
)
