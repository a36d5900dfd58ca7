"""Bytes in words."""

from __future__ import annotations


def size_text(count: float) -> str:
    """`3.2 GB`: decimal units, as disks and clouds count."""
    for unit in ("B", "kB", "MB", "GB"):
        if unit == "B" and abs(count) < 1000:
            return f"{count:.0f} B"
        if unit != "B" and round(abs(count), 1) < 1000:
            return f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
