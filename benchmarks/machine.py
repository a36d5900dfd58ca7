"""What the figures were measured on; nothing that names the machine itself."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """The parts of a computer that decide how fast it is."""

    cpu: str
    cores: int
    memory_gb: float
    kernel: str
    python: str

    def __str__(self) -> str:
        return (
            f"{self.cpu}, {self.cores} cores, {self.memory_gb:g} GB memory, "
            f"Linux {self.kernel}, Python {self.python}"
        )


def this_machine() -> Machine:
    """Read from /proc."""
    return Machine(
        cpu=_first("/proc/cpuinfo", r"model name\s*:\s*(.+)") or platform.machine(),
        cores=len(os.sched_getaffinity(0)),
        memory_gb=round(int(_first("/proc/meminfo", r"MemTotal:\s*(\d+) kB") or 0) / 1e6, 1),
        kernel=".".join(platform.release().split(".")[:2]),
        python=platform.python_version(),
    )


def _first(path: str, pattern: str) -> str:
    found = re.search(pattern, Path(path).read_text(encoding="utf-8"))
    return found[1].strip() if found else ""
