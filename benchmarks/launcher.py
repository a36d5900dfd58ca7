"""Run one command and write down what it took, from a process small enough not to count.

    python -I -S launcher.py REPORT STDOUT STDERR PROGRAM [ARGUMENT ...]

Linux carries a parent's peak resident memory over fork and exec into the child's `ru_maxrss`.
A command started by the harness itself would be charged with the harness's memory; started
from here, about 10 MB is the least that can be read. REPORT gets a JSON object: the exit
status, wall, user and system seconds, and the largest resident set, in bytes, of the command
or of any child it waited for.
"""

from __future__ import annotations

import json
import os
import sys
import time


def main() -> None:
    """Fork, redirect, exec, wait, report."""
    report, stdout, stderr, *command = sys.argv[1:]
    started = time.perf_counter()
    child = os.fork()
    if child == 0:
        _become(command, stdout, stderr)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - started
    with open(report, "w", encoding="utf-8") as file:
        json.dump(
            {
                "status": os.waitstatus_to_exitcode(status),
                "wall": wall,
                "user": usage.ru_utime,
                "system": usage.ru_stime,
                "peak_rss": usage.ru_maxrss * 1024,
            },
            file,
        )


def _become(command: list[str], stdout: str, stderr: str) -> None:
    """Turn this process into the command; exit 127, like a shell, where that cannot be done."""
    try:
        for path, target in ((os.devnull, 0), (stdout, 1), (stderr, 2)):
            flags = os.O_RDONLY if target == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(path, flags, 0o644), target)
        os.execvp(command[0], command)
    except OSError as failure:
        os.write(2, f"{command[0]}: {failure}\n".encode())
        os._exit(127)


if __name__ == "__main__":
    main()
