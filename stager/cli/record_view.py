"""Differing records for eyes: side by side, one below the other, or plain.

On a terminal of WIDE columns each side has a column; on a narrower one they stand one below
the other. There a long record is cut to what differs and some of its surroundings. In a pipe
every record is one line, whole: a mark, its line number, its text.

    -12      removed       +15      added
    ~ 12 15  changed, with its key and fields; the two texts follow
    > 12 15  moved
"""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stager.cli.output import Output
from stager.cli.wording import printable
from stager.ops.diff import FileDiff
from stager.ops.diff_records import CHANGED, MOVED, RecordRow

WIDE = 100
AROUND = 40  # characters shown before what differs
SHOWN = 600  # characters of a record on a terminal

_OLD, _NEW, _QUIET = "red", "green", "dim"


class View:
    """Shows the rows of one file after the other."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._terminal = sys.stdout.isatty()
        self._console = Console(file=sys.stdout, highlight=False)

    def show(self, change: FileDiff) -> None:
        """The rows of a file, and how many there are beyond them."""
        for row in change.rows:
            if not self._terminal:
                self._plain(row)
            elif self._console.width >= WIDE:
                self._print(_beside(row))
            else:
                for text in _below(row):
                    self._print(text)
        more = _left_out(change)
        if more:
            self._output.line(f"  ... and {more} more; --limit 0 shows all")

    def _print(self, shown: Table | Text) -> None:
        with self._console.capture() as captured:
            self._console.print(shown, soft_wrap=isinstance(shown, Text))
        self._output.drawn(captured.get().rstrip("\n"))

    def _plain(self, row: RecordRow) -> None:
        if row.kind == MOVED:
            self._output.line(f">{row.line_before} {row.line_after} {_text(row.after)}")
            return
        if row.kind == CHANGED:
            self._output.line(_heading(row))
        if row.before is not None:
            self._output.line(f"-{row.line_before} {_text(row.before)}")
        if row.after is not None:
            self._output.line(f"+{row.line_after} {_text(row.after)}")


def _heading(row: RecordRow) -> str:
    names = ", ".join(printable(name) or "whole record" for name in row.fields)
    what = names or "written differently, equal in every field"
    return f"~{row.line_before} {row.line_after} {printable(row.key or '')}: {what}"


def _left_out(change: FileDiff) -> int:
    """A replaced row stands for a removed and an added record."""
    counts = change.records
    if counts is None:
        return 0
    given = sum(1 + (row.before is not None and row.after is not None) for row in change.rows)
    given -= sum(row.kind in (CHANGED, MOVED) for row in change.rows)
    return counts.removed + counts.added + counts.changed + counts.moved - given


def _beside(row: RecordRow) -> Table:
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(justify="right", style=_QUIET, min_width=6)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(justify="right", style=_QUIET, min_width=6)
    table.add_column(ratio=1, overflow="fold")
    if row.kind == CHANGED:
        table.add_row("", Text(_heading(row), "bold"), "", "")
    before, after = _marked(row)
    left, right = (">", ">") if row.kind == MOVED else ("-", "+")
    table.add_row(_number(left, row.line_before), before, _number(right, row.line_after), after)
    return table


def _below(row: RecordRow) -> list[Text]:
    if row.kind == MOVED:
        head = Text(f">{row.line_before} {row.line_after} ", _QUIET)
        return [head.append_text(_marked(row)[1])]
    shown = [Text(_heading(row), "bold")] if row.kind == CHANGED else []
    before, after = _marked(row)
    if row.before is not None:
        shown.append(Text(f"-{row.line_before} ", _OLD).append_text(before))
    if row.after is not None:
        shown.append(Text(f"+{row.line_after} ", _NEW).append_text(after))
    return shown


def _number(mark: str, line: int | None) -> str:
    return "" if line is None else f"{mark}{line}"


def _marked(row: RecordRow) -> tuple[Text, Text]:
    """Both texts, cut to what matters; what the two share is dim."""
    before, after = _text(row.before), _text(row.after)
    if row.kind == MOVED:
        shown = _cut(before, 0)
        return Text(shown, _QUIET), Text(shown, _QUIET)
    if row.before is None or row.after is None:
        return Text(_cut(before, 0), _OLD), Text(_cut(after, 0), _NEW)
    start = _shared(before, after)
    tail = _shared(before[start:][::-1], after[start:][::-1])
    return _parts(before, start, tail, _OLD), _parts(after, start, tail, _NEW)


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    alike = zip(one, other, strict=False)
    shorter = min(len(one), len(other))
    return next((at for at, (char, its) in enumerate(alike) if char != its), shorter)


def _parts(text: str, start: int, tail: int, style: str) -> Text:
    skipped = max(0, start - AROUND) if len(text) > SHOWN else 0
    end = len(text) - tail
    stop = min(len(text), skipped + SHOWN)
    shown = Text("…" if skipped else "")
    shown.append(text[skipped:start], _QUIET)
    shown.append(text[start : min(end, stop)], style)
    shown.append(text[max(start, min(end, stop)) : stop], _QUIET)
    return shown.append("…" if stop < len(text) else "")


def _cut(text: str, start: int) -> str:
    return text if len(text) <= SHOWN else f"{text[start : start + SHOWN]}…"


def _text(record: str | None) -> str:
    """A record on one line: no newline, and nothing that could command a terminal."""
    if record is None:
        return ""
    end = "" if record.endswith("\n") else "  (no newline at its end)"
    return printable(record.removesuffix("\n")) + end
