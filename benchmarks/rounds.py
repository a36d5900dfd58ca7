"""The order of a benchmark: every contender once, in turn, round after round."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.comparison import Comparison, Contender, Run, Series, Verdict
from benchmarks.measure import measure
from benchmarks.workspace import Workspace


@dataclass(frozen=True)
class Scenario:
    """A question, and the comparisons that answer it.

    `comparisons` is a generator: it starts servers before its first comparison and ends them
    after its last.
    """

    name: str
    question: str
    comparisons: Callable[[Workspace], Iterator[Comparison]]


@dataclass(frozen=True)
class Outcome:
    """What one comparison came to."""

    comparison: Comparison
    series: tuple[Series, ...]
    verdicts: tuple[Verdict, ...]


def compare(
    comparison: Comparison, rounds: int, space: Workspace, say: Callable[[str], None]
) -> Outcome:
    """Run A B C A B C ..., each in a fresh folder, and judge the bars."""
    contenders = [make() for make in comparison.contenders]
    rounds = min(rounds, comparison.most_rounds or rounds)
    runs: dict[str, list[Run]] = {contender.name: [] for contender in contenders}
    for number in range(1, rounds + 1):
        for contender in contenders:
            run = _run_once(contender, f"{_folder_name(contender.name)}-{number}", space)
            runs[contender.name].append(run)
            say(f"  {number}/{rounds} {contender.name:<12} {run.sample.wall:8.3f} s")
    series = tuple(Series(contender, runs[contender.name]) for contender in contenders)
    by_name = {each.contender.name: each for each in series}
    judged = (bar.judge(by_name) for bar in comparison.bars)
    return Outcome(comparison, series, tuple(each for each in judged if each is not None))


def _folder_name(name: str) -> str:
    return re.sub(r"\W+", "-", name)


def _run_once(contender: Contender, name: str, space: Workspace) -> Run:
    with space.fresh(name) as scratch:
        command = contender.command(scratch)
        sample = measure(command, scratch)
        return Run(sample, contender.prove(command, scratch, sample))
