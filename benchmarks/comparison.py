"""Peers in one comparison, the samples they leave, and the bars they are held against."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.measure import Command, Sample


@dataclass(frozen=True)
class Contender:
    """One peer in one comparison.

    `command` gets a fresh folder on the fast disk and returns what to time. `prove` runs
    untimed after it, raises BenchmarkFailed when the result is wrong, and returns further
    figures by name.
    """

    name: str
    version: str
    shown: str
    command: Callable[[Path], Command]
    prove: Callable[[Command, Path, Sample], Mapping[str, float]]


@dataclass(frozen=True)
class Run:
    """A sample and the further figures its proof found."""

    sample: Sample
    figures: Mapping[str, float]


@dataclass(frozen=True)
class Series:
    """All runs of one contender, in the order they were made."""

    contender: Contender
    runs: Sequence[Run]

    def values(self, figure: str) -> list[float]:
        """The figure of every run: wall, user, system, peak_rss or one found by the proof."""
        return [
            run.figures[figure] if figure in run.figures else float(getattr(run.sample, figure))
            for run in self.runs
        ]

    def median(self, figure: str) -> float:
        """The middle value of the figure."""
        return statistics.median(self.values(figure))


@dataclass(frozen=True)
class Verdict:
    """A bar in words, what was measured against it, and whether it was met."""

    bar: str
    measured: float
    required: float
    unit: str
    met: bool

    def __str__(self) -> str:
        measured = f"{self.measured:.3g} {self.unit}".rstrip()
        return f"{self.bar}: {measured}, {'met' if self.met else 'missed'}"


class Bar(Protocol):
    """Something a comparison is to show."""

    def judge(self, series: Mapping[str, Series]) -> Verdict | None:
        """The verdict, or None when a contender it speaks of did not take part."""


@dataclass(frozen=True)
class Faster:
    """`name` is at least `times` as fast as `rival`, by the medians of wall time."""

    name: str
    rival: str
    times: float

    def judge(self, series: Mapping[str, Series]) -> Verdict | None:
        """Compare the two medians."""
        if not {self.name, self.rival} <= series.keys():
            return None
        ratio = series[self.rival].median("wall") / series[self.name].median("wall")
        bar = f"{self.name} at least {self.times:g} times as fast as {self.rival}"
        return Verdict(bar, ratio, self.times, "times", ratio >= self.times)


@dataclass(frozen=True)
class Within:
    """No run of `name` has more than `most` of a figure, counted in `unit`s of it."""

    name: str
    figure: str
    most: float
    unit: str = ""
    per_unit: float = 1.0

    def judge(self, series: Mapping[str, Series]) -> Verdict | None:
        """Look at the worst run, for a limit is no average."""
        if self.name not in series:
            return None
        worst = max(series[self.name].values(self.figure)) / self.per_unit
        bar = f"{self.name}, worst run: {self.figure} at most {self.most:g} {self.unit}".rstrip()
        return Verdict(bar, worst, self.most, self.unit, worst <= self.most)


@dataclass(frozen=True)
class AtLeast:
    """No run of `name` has less than `least` of a figure, counted in `unit`s."""

    name: str
    figure: str
    least: float
    unit: str = ""

    def judge(self, series: Mapping[str, Series]) -> Verdict | None:
        """Look at the worst run, for a promise is no average."""
        if self.name not in series:
            return None
        worst = min(series[self.name].values(self.figure))
        bar = f"{self.name}, worst run: {self.figure} at least {self.least:g} {self.unit}".rstrip()
        return Verdict(bar, worst, self.least, self.unit, worst >= self.least)


@dataclass(frozen=True)
class Beside:
    """A figure of `name` is at most `times` that of `rival`, by the medians."""

    name: str
    rival: str
    figure: str
    times: float

    def judge(self, series: Mapping[str, Series]) -> Verdict | None:
        """Compare the two medians."""
        if not {self.name, self.rival} <= series.keys():
            return None
        ratio = series[self.name].median(self.figure) / series[self.rival].median(self.figure)
        bar = f"{self.figure} of {self.name} at most {self.times:g} times that of {self.rival}"
        return Verdict(bar, ratio, self.times, "times", ratio <= self.times)


@dataclass(frozen=True)
class Comparison:
    """Contenders doing the same `amount` of `unit`s, and the bars this is to show.

    Contenders are made late, one after another, because making one may upload its data.
    Figures named `bytes_...` are also shown as shares of `raw` bytes, where that is given.
    `most_rounds` is for figures that do not vary; `rows` heads the contenders' names.
    """

    title: str
    amount: float
    unit: str
    contenders: Sequence[Callable[[], Contender]]
    bars: Sequence[Bar]
    raw: int = 0
    most_rounds: int | None = None
    rows: str = "peer"
