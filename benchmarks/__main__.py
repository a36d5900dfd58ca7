"""python -m benchmarks [SCENARIO ...]: run scenarios and keep their results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.machine import this_machine
from benchmarks.measure import BenchmarkFailed
from benchmarks.report import Setting, table, write
from benchmarks.rounds import Outcome, Scenario, compare
from benchmarks.scenarios import SCENARIOS
from benchmarks.workspace import workspace
from tests.support.processes import ServerFailed

RESULTS = Path(__file__).with_name("results")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 1 when a scenario could not be run to its end."""
    options = _parser().parse_args(arguments)
    if options.list:
        for scenario in SCENARIOS.values():
            _say(f"{scenario.name:<12} {scenario.question}")
        return 0
    chosen = options.scenarios or SCENARIOS.values()
    failed = [scenario.name for scenario in chosen if not _run(scenario, options)]
    if failed:
        _say(f"not finished: {', '.join(failed)}")
    return 1 if failed else 0


def _run(scenario: Scenario, options: argparse.Namespace) -> bool:
    setting = Setting(
        machine=this_machine(),
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        rounds=options.rounds,
        scale=options.scale,
    )
    try:
        outcomes = _outcomes(scenario, options)
    except (BenchmarkFailed, ServerFailed) as failure:
        print(f"{scenario.name}: {failure}", file=sys.stderr)
        return False
    write(options.results, scenario, setting, outcomes)
    return True


def _outcomes(scenario: Scenario, options: argparse.Namespace) -> list[Outcome]:
    outcomes = []
    with workspace(options.scale, options.peers) as space:
        for comparison in scenario.comparisons(space):
            _say(f"{scenario.name}: {comparison.title}")
            outcome = compare(comparison, options.rounds, space, _say)
            _say(f"\n{table(outcome)}\n")
            outcomes.append(outcome)
    return outcomes


def _say(line: str) -> None:
    print(line, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("scenarios", nargs="*", type=_scenario, metavar="SCENARIO")
    parser.add_argument("--list", action="store_true", help="name the scenarios and stop")
    parser.add_argument("--rounds", type=_positive, default=5, help="runs of every peer (5)")
    parser.add_argument("--scale", type=_factor, default=1.0, help="factor on the data's size (1)")
    parser.add_argument("--peers", type=_names, help="only these, separated by commas")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results are kept")
    return parser


def _scenario(name: str) -> Scenario:
    if name not in SCENARIOS:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(SCENARIOS)}")
    return SCENARIOS[name]


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def _factor(text: str) -> float:
    factor = float(text)
    if factor <= 0:
        raise argparse.ArgumentTypeError("more than 0")
    return factor


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split(","))


if __name__ == "__main__":
    sys.exit(main())
