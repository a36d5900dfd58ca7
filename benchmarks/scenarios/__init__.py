"""What is compared: one module per family of scenarios, all of them listed here."""

from __future__ import annotations

from benchmarks.rounds import Scenario
from benchmarks.scenarios import (
    chain,
    delta,
    edits,
    hashing,
    memory,
    no_op,
    packed_pull,
    push_jsonl,
    raw_pull,
    small_files,
)

SCENARIOS: dict[str, Scenario] = {
    module.SCENARIO.name: module.SCENARIO
    for module in (
        raw_pull,
        packed_pull,
        small_files,
        push_jsonl,
        no_op,
        memory,
        delta,
        edits,
        chain,
        hashing,
    )
}
