"""A scenario's outcome, as JSON for programs and as Markdown for people."""

from __future__ import annotations

import dataclasses
import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.comparison import Comparison, Series
from benchmarks.machine import Machine
from benchmarks.rounds import Outcome, Scenario

MEGABYTE = 1_000_000
FIGURES = ("wall", "user", "system", "peak_rss")
BYTES = "bytes_"


@dataclass(frozen=True)
class Setting:
    """What all comparisons of a run have in common."""

    machine: Machine
    date: str
    rounds: int
    scale: float


def write(
    directory: Path, scenario: Scenario, setting: Setting, outcomes: Sequence[Outcome]
) -> None:
    """Write `<scenario>.json` and `<scenario>.md` into the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    document = _document(scenario, setting, outcomes)
    data = json.dumps(document, indent=2, ensure_ascii=False)
    (directory / f"{scenario.name}.json").write_text(data + "\n", encoding="utf-8")
    page = _page(scenario, setting, outcomes)
    (directory / f"{scenario.name}.md").write_text(page, encoding="utf-8")


def table(outcome: Outcome) -> str:
    """The contenders as a Markdown table, the bars as a list below it.

    Every further figure that some contender has is a column; bytes are shown in MB.
    """
    comparison = outcome.comparison
    further = list(dict.fromkeys(name for series in outcome.series for name in _further(series)))
    heads = [
        comparison.rows,
        "version",
        "wall s, median (min-max)",
        f"{comparison.unit}/s",
        "CPU s",
    ]
    heads += ["peak RSS MB", *map(_head, further)]
    lines = [
        f"| {' | '.join(heads)} |",
        f"|---|---|{'---:|' * (len(heads) - 2)}",
        *(_row(comparison, series, further) for series in outcome.series),
    ]
    if outcome.verdicts:
        lines += ["", *(f"- {verdict}" for verdict in outcome.verdicts)]
    return "\n".join(lines)


def _further(series: Series) -> Sequence[str]:
    return list(series.runs[0].figures)


def _head(figure: str) -> str:
    name = figure.removeprefix(BYTES).replace("_", " ")
    return f"{name} MB" if figure.startswith(BYTES) else name


def _row(comparison: Comparison, series: Series, further: Sequence[str]) -> str:
    wall = series.values("wall")
    cpu = series.median("user") + series.median("system")
    cells = (
        series.contender.name,
        series.contender.version,
        f"{statistics.median(wall):.3f} ({min(wall):.3f}-{max(wall):.3f})",
        f"{comparison.amount / statistics.median(wall):,.0f}",
        f"{cpu:.2f}",
        f"{series.median('peak_rss') / MEGABYTE:,.0f}",
        *(_cell(comparison, series, figure) for figure in further),
    )
    return f"| {' | '.join(cells)} |"


def _cell(comparison: Comparison, series: Series, figure: str) -> str:
    if figure not in _further(series):
        return ""
    value = series.median(figure)
    if not figure.startswith(BYTES):
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    share = f" ({value / comparison.raw:.2%})" if comparison.raw else ""
    return f"{value / MEGABYTE:,.3f}{share}"


def _page(scenario: Scenario, setting: Setting, outcomes: Sequence[Outcome]) -> str:
    scaled = "" if setting.scale == 1 else f", data scaled by {setting.scale:g}"
    parts = [
        f"# {scenario.name}",
        scenario.question,
        f"{setting.date}; {setting.machine}; {setting.rounds} rounds, peers in turn{scaled}.",
    ]
    for outcome in outcomes:
        parts += [f"## {outcome.comparison.title}", table(outcome), _commands(outcome)]
    return "\n\n".join(parts) + "\n"


def _commands(outcome: Outcome) -> str:
    lines = (f"{each.contender.name}: {each.contender.shown}" for each in outcome.series)
    return "```\n" + "\n".join(lines) + "\n```"


def _document(
    scenario: Scenario, setting: Setting, outcomes: Sequence[Outcome]
) -> dict[str, object]:
    return {
        "scenario": scenario.name,
        "question": scenario.question,
        **dataclasses.asdict(setting),
        "comparisons": [
            {
                "title": outcome.comparison.title,
                "amount": outcome.comparison.amount,
                "unit": outcome.comparison.unit,
                "raw": outcome.comparison.raw,
                "peers": [_peer(series) for series in outcome.series],
                "bars": [dataclasses.asdict(verdict) for verdict in outcome.verdicts],
            }
            for outcome in outcomes
        ],
    }


def _peer(series: Series) -> dict[str, object]:
    figures = [*FIGURES, *_further(series)]
    return {
        "name": series.contender.name,
        "version": series.contender.version,
        "command": series.contender.shown,
        "median": {figure: series.median(figure) for figure in figures},
        "min": {figure: min(series.values(figure)) for figure in figures},
        "max": {figure: max(series.values(figure)) for figure in figures},
        "samples": {figure: series.values(figure) for figure in figures},
    }
