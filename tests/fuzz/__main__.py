"""`python -m tests.fuzz --inputs 1000000 [--seed 1] [--target NAME]`: table of docs/fuzzing.md."""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from pathlib import Path

from tests.fuzz.drive import Fault, drive
from tests.fuzz.targets import targets


def main() -> int:
    """1 when a parser did not bear an input."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--inputs", type=int, default=100_000, help="in total")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", default="")
    asked = parser.parse_args()
    faults, total = 0, 0
    print("| parser | inputs | accepted | refused | slowest, ms |\n|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        chosen = [each for each in targets(Path(folder)) if asked.target in ("", each.name)]
        for target in chosen:
            try:
                count = drive(target, -(-asked.inputs // len(chosen)), asked.seed)
            except Fault as fault:
                faults += 1
                print(fault, file=sys.stderr)
                continue
            total += count.inputs
            numbers = f"{count.inputs} | {count.accepted} | {count.refused}"
            print(f"| {count.name} | {numbers} | {count.slowest * 1000:.1f} |", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"\n{total} inputs, {faults} faults, peak memory {peak} MB.")
    return 1 if faults or not chosen else 0


sys.exit(main())
