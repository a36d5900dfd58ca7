"""Spans of time as users write them."""

from __future__ import annotations

import re

from stager.errors import UsageError

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}

_DURATION = re.compile(r"(?P<count>[0-9]{1,9})(?P<unit>[smhdw])")


def parse_duration(text: str) -> int:
    """Seconds in `36h` or `7d`; UsageError for anything else, a bare number too."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        units = ", ".join(UNITS)
        raise UsageError(reason=f"{text!r} is no span of time: a number and one of {units}")
    return int(match["count"]) * UNITS[match["unit"]]


def duration_text(seconds: int) -> str:
    """`7d` for 604800: the largest unit that says it exactly, weeks left to the reader."""
    for unit in ("d", "h", "m"):
        if seconds and seconds % UNITS[unit] == 0:
            return f"{seconds // UNITS[unit]}{unit}"
    return f"{seconds}s"
