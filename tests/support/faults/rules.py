"""Which request gets which fault: scripted by method, key and number, or by chance."""

from __future__ import annotations

import random
import re
import threading
from collections import Counter
from dataclasses import dataclass, field

from tests.support.faults.exchange import Request
from tests.support.faults.kinds import Fault


@dataclass(frozen=True)
class Rule:
    """A fault for the matches from the `first` on, `times` of them (None: all).

    A match is a request that the fault applies to, of this method (any when empty) and with
    the pattern in its path. With a `chance` below 1 each match is a throw of seeded dice.
    """

    fault: Fault
    method: str = ""
    key: str = ""
    first: int = 1
    times: int | None = 1
    chance: float = 1.0
    seed: int = 0


@dataclass
class _State:
    rule: Rule
    matches: int = 0
    dice: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.rule.seed)


class Script:
    """The rules in force, and what came of them; used by many threads."""

    def __init__(self) -> None:
        self.given: Counter[str] = Counter()  # faults by name
        self._states: list[_State] = []
        self._lock = threading.Lock()

    def set(self, *rules: Rule) -> None:
        """These rules from now on, counted from nothing; without any nothing fails."""
        with self._lock:
            self._states = [_State(rule) for rule in rules]
            self.given.clear()

    def choose(self, request: Request) -> Fault | None:
        """The fault of the first rule that says so."""
        with self._lock:
            for state in self._states:
                if _matches(state.rule, request):
                    state.matches += 1
                    if _is_due(state):
                        self.given[state.rule.fault.name] += 1
                        return state.rule.fault
        return None

    @property
    def total(self) -> int:
        """Faults given since the rules were set."""
        with self._lock:
            return self.given.total()


def _matches(rule: Rule, request: Request) -> bool:
    return (
        rule.method in ("", request.method)
        and bool(re.search(rule.key, request.path))
        and rule.fault.applies(request)
    )


def _is_due(state: _State) -> bool:
    rule, past = state.rule, state.matches - state.rule.first
    if past < 0 or (rule.chance == 1.0 and rule.times is not None and past >= rule.times):
        return False
    return rule.chance == 1.0 or state.dice.random() < rule.chance
