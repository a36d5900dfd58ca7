"""A process of our own that does something and then waits to be killed."""

from __future__ import annotations

import subprocess
import sys
import textwrap

READY = b"ready\n"
PREAMBLE = """
import sys, time

def ready():
    print("ready", flush=True)
    sys.stdin.read()
"""


def child_that(code: str) -> subprocess.Popen[bytes]:
    """Runs `code`; returns when it has called `ready()`, where it stays until it is killed."""
    child = subprocess.Popen(
        [sys.executable, "-c", PREAMBLE + textwrap.dedent(code)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == READY
    return child
