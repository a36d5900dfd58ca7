"""Bytes in words, and words in bytes."""

from __future__ import annotations

import re

_UNITS = {"": 1, "B": 1} | {
    f"{letter}{mark}B": base**power
    for mark, base in (("", 1000), ("I", 1024))
    for power, letter in enumerate("KMGTP", start=1)
}
_SIZE = re.compile(r"(?P<whole>[0-9]{1,19})(\.(?P<part>[0-9]{1,19}))? ?(?P<unit>[A-Za-z]{0,3})")


def size_text(count: float) -> str:
    """`3.2 GB`: decimal units, as disks and clouds count."""
    for unit in ("B", "kB", "MB", "GB"):
        if unit == "B" and abs(count) < 1000:
            return f"{count:.0f} B"
        if unit != "B" and round(abs(count), 1) < 1000:
            return f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def parse_size(text: str) -> int:
    """Bytes in `500GB`, `1.5 TiB` or `1000`; ValueError for anything else.

    `G` alone is refused: some tools mean 1000 and some 1024 by it.
    """
    match = _SIZE.fullmatch(text.strip())
    unit = match["unit"].upper() if match else ""
    if match is None or unit not in _UNITS or (match["part"] and unit in ("", "B")):
        raise ValueError(f"{text!r} is not a size such as 500GB, 1.5TiB or 1000")
    part = match["part"] or ""
    size: int = int(match["whole"] + part) * _UNITS[unit]
    return size // int("1" + "0" * len(part))
