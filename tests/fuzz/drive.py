"""Runs a target on many inputs and counts; a fault is told with what makes it happen again."""

from __future__ import annotations

import random
import resource
import time
from dataclasses import dataclass

from tests.fuzz.mutate import mutated
from tests.fuzz.targets import Target

LONGEST_SECONDS = 2.0
MOST_MEGABYTES = 500  # more than the process had before


class Fault(AssertionError):
    """A parser that crashed, took too long or too much memory."""


@dataclass
class Count:
    """What came of the inputs of one target."""

    name: str
    accepted: int = 0
    refused: int = 0
    seconds: float = 0.0
    slowest: float = 0.0

    @property
    def inputs(self) -> int:
        """All of them."""
        return self.accepted + self.refused


def drive(target: Target, inputs: int, seed: int) -> Count:
    """Counts what the target did with so many inputs; Fault at the first that it did not bear."""
    dice = random.Random(f"{target.name}:{seed}")
    count = Count(target.name)
    held = _megabytes()
    for seeded in target.seeds:
        target.parse(seeded)
    for number in range(inputs):
        data = mutated(dice, target.seeds)
        began = time.perf_counter()
        try:
            target.parse(data)
            count.accepted += 1
        except target.refuses:
            count.refused += 1
        except (Exception, RecursionError) as problem:
            raise Fault(_told(target, seed, number, data, repr(problem))) from problem
        took = time.perf_counter() - began
        count.seconds += took
        count.slowest = max(count.slowest, took)
        if took > LONGEST_SECONDS or _megabytes() - held > MOST_MEGABYTES:
            raise Fault(_told(target, seed, number, data, f"{took:.1f} s, {_megabytes():.0f} MB"))
    return count


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _told(target: Target, seed: int, number: int, data: bytes, what: str) -> str:
    return f"{target.name}, seed {seed}, input {number}: {what}\n{data[:2000].hex()}"
