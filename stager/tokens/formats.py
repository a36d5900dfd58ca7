"""Which of the ecosystem's row formats a source is in, told by its keys.

    preference   chosen, rejected, and a prompt or conversation before them
    messages     messages: [{role, content, ...}]
    sharegpt     conversations: [{from, value}]
    alpaca       instruction, output, maybe input, system, history
    text         text

A guess is only made when every row of the head says the same; otherwise the error says what
was seen and the user says which it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from stager.errors import UsageError

KEYS = {
    "preference": {"chosen", "rejected"},
    "messages": {"messages"},
    "sharegpt": {"conversations"},
    "alpaca": {"instruction", "output"},
    "text": {"text"},
}
FORMATS = tuple(KEYS)


class Detected(NamedTuple):
    """A format, and why, in words for the user."""

    format: str
    reason: str


def of_row(row: Mapping[str, object]) -> tuple[str, ...]:
    """Every format whose keys the row has; preference explains a conversation before it."""
    found = tuple(name for name, keys in KEYS.items() if keys <= row.keys())
    return found[:1] if found[:1] == ("preference",) else found


def detected(name: str, head: Iterable[Mapping[str, object]]) -> Detected:
    """The format of rows; UsageError when they do not agree on exactly one."""
    seen = Counter(of_row(row) for row in head)
    if len(seen) == 1 and len(only := next(iter(seen))) == 1:
        keys = ", ".join(sorted(KEYS[only[0]]))
        return Detected(only[0], f"{name}: {only[0]}, for its rows have {keys}")
    told = "; ".join(f"{count} rows: {_named(kinds)}" for kinds, count in seen.most_common())
    hint = f"say which with --format: {', '.join(FORMATS)}"
    raise UsageError(reason=f"{name}: which format is it? {told or 'no rows'}", hint=hint)


def _named(kinds: tuple[str, ...]) -> str:
    return " or ".join(kinds) if kinds else "none that is known"
