"""The command: finds the verb's module, runs it, turns a failure into a sentence and a number.

A verb's module is imported when the verb is used, so `stager --help` costs the import of
typer and no more.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword
from typing import Any

import typer
from typer.core import TyperGroup

from stager import __version__
from stager.cli.output import Output
from stager.errors import CacheError, Cancelled, StagerError

VERBS = {
    "pull": "Put the verified files of a version on this node",
    "push": "Make a new version from a local file or folder",
    "adopt": "Make a version of a prefix that exists in a bucket, without copying",
    "import": "Make a version of what DVC, Git LFS or the Hugging Face hub keeps here",
    "log": "Versions of a dataset, newest first",
    "ls": "Datasets of the remote, or files of a version",
    "show": "Everything known of one version",
    "diff": "What differs between two versions or paths, in files and in records",
    "path": "Where a staged version lies on this node",
    "tag": "Point a movable name at a version",
    "rm": "Take versions out of the remote",
    "gc": "Free what no version of the remote refers to",
    "du": "What the versions of the remote cost, and what they share",
    "verify": "Check every byte of a version, here or in the remote",
    "cache": "What is staged on this node: ls, rm, pin, unpin, prune",
    "init": "Write stager.toml",
    "doctor": "Tell what is set, which credentials are used, and what does not work",
    "demo": "Push twice, pull both, and see what the second version cost",
}


STOPPED = "stopped; the next run continues from here"
STOP_SECONDS = 2.0  # for what is under way to end by itself
SHOW_CURSOR = "\x1b[?25h"  # progress bars hide it


class Verbs(TyperGroup):
    """Commands by name, imported one at a time."""

    def list_commands(self, ctx: Any) -> list[str]:
        """In the order of the table above."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a verb; None for a word that is none."""
        if cmd_name not in VERBS:
            return None
        name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        module = import_module(f"stager.cli.{name}")
        return typer.main.get_command(module.app)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The help table, without importing any verb."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


app = typer.Typer(
    cls=Verbs,
    help="From bucket to GPU: versioned datasets in your own object store, verified on the node.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        Output().line(f"stager {__version__}")
        raise typer.Exit()


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point; exits with the code of errors.py."""
    # A pull makes tens of thousands of values that live to its end; collecting them again
    # and again at the default thresholds costs an eighth of a small pull.
    gc.set_threshold(100_000, 50, 50)
    signal.signal(signal.SIGTERM, _stop)
    _watch_for_signals()
    code = run(sys.argv[1:] if arguments is None else list(arguments))
    sys.stdout.flush()
    sys.stderr.flush()
    # Verbs leave nothing to clean up but a progress bar. Taking the interpreter apart costs a
    # tenth of a small pull, and after Ctrl-C it would wait for transfers in threads.
    atexit._run_exitfuncs()
    os._exit(code)


def _stop(_number: int, _frame: object) -> None:
    """SIGTERM, which spot machines and schedulers send, ends a verb as Ctrl-C does."""
    raise Cancelled


def _watch_for_signals() -> None:
    """Ends the process when a signal was not heeded in STOP_SECONDS.

    Python runs its handlers in the main thread, between two of its steps. A main thread that
    waits for a store which stalls takes no step, as long as `stall_seconds` and more.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_end_in_time, args=(reader,), daemon=True).start()


def _end_in_time(reader: int) -> None:
    while os.read(reader, 1)[0] not in (signal.SIGINT, signal.SIGTERM):
        pass
    time.sleep(STOP_SECONDS)
    if sys.stderr.isatty():
        sys.stderr.write(SHOW_CURSOR)
    Output().problem(STOPPED)
    sys.stderr.flush()
    os._exit(Cancelled.exit_code)


def run(arguments: list[str]) -> int:
    """Runs a command line; its exit code."""
    output = Output.for_arguments(arguments)
    try:
        code = int(app(args=arguments, prog_name="stager", standalone_mode=False) or 0)
        if code == Cancelled.exit_code:  # typer makes a number of Ctrl-C by itself
            output.problem(STOPPED)
        return code
    except StagerError as problem:
        output.failure(problem)
        return problem.exit_code
    except (KeyboardInterrupt, Cancelled, typer.Abort):
        output.problem(STOPPED)
        return Cancelled.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as problem:  # a disk or a permission, met outside any store
        failure = CacheError(path=problem.filename or "disk", reason=problem.strerror)
        output.failure(failure)
        return failure.exit_code
    except Exception as problem:
        if hasattr(problem, "format_message"):  # typer's own: unknown option, missing argument
            output.problem(f"{problem.format_message()}  (stager --help)")
            return 2
        raise
