"""The one sink: results on stdout, everything else on stderr; human, plain or JSON."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, NamedTuple

from stager.cli.wording import sentence_of
from stager.errors import StagerError
from stager.events import Event, Listener, Warned
from stager.model.digest import Digest

# C0 and C1 controls but tab and newline, and the marks that turn the direction of text around.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Output(NamedTuple):
    """How this call speaks. `as_json` wins over `quiet`."""

    as_json: bool = False
    quiet: bool = False

    @classmethod
    def for_arguments(cls, arguments: Sequence[str]) -> Output:
        """What can be known before the arguments are parsed, for errors in parsing them."""
        return cls(as_json="--json" in arguments, quiet="--quiet" in arguments)

    def line(self, text: str) -> None:
        """One line of result."""
        sys.stdout.write(harmless(text) + "\n")

    def drawn(self, text: str) -> None:
        """A line with colours of our own around texts that are `printable` already."""
        sys.stdout.write(text + "\n")

    def result(self, value: Any, text: str) -> None:
        """A result: the whole value as JSON, or the text a person or script wants."""
        self.line(json.dumps(plain(value), ensure_ascii=False) if self.as_json else text)

    def rows(self, values: Iterable[Any], header: Sequence[str], cells: Any) -> None:
        """A table; JSON is one array. `cells` turns a value into texts."""
        if self.as_json:
            self.line(json.dumps([plain(value) for value in values], ensure_ascii=False))
            return
        table = [tuple(str(cell) for cell in cells(value)) for value in values]
        if sys.stdout.isatty():
            table.insert(0, tuple(header))
        widths = [max((len(row[at]) for row in table), default=0) for at in range(len(header))]
        for row in table:
            padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            self.line("  ".join(padded).rstrip())

    def say(self, text: str) -> None:
        """Something beside the result."""
        if not self.quiet:
            sys.stderr.write(harmless(text) + "\n")

    def problem(self, text: str) -> None:
        """Something wrong; never silenced."""
        sys.stderr.write(f"stager: {harmless(text)}\n")

    def failure(self, problem: StagerError) -> None:
        """An error: its sentence, its hint; in JSON also its class, number and fields."""
        if self.as_json:
            document = {
                "error": type(problem).__name__,
                "exit_code": problem.exit_code,
                "message": str(problem),
                "hint": problem.hint,
            }
            self.line(json.dumps(document, ensure_ascii=False))
        self.problem(str(problem))
        if problem.hint:
            self.say(f"        {problem.hint}")

    def listener(self) -> Listener:
        """Who shows events: a progress bar on a terminal, plain lines elsewhere."""
        if not self.quiet and not self.as_json and sys.stderr.isatty():
            from stager.cli.progress import ProgressBar

            return ProgressBar(self.say)
        return self._tell

    def _tell(self, event: Event) -> None:
        text = sentence_of(event)
        if text and (isinstance(event, Warned) or not self.quiet):
            sys.stderr.write(harmless(text) + "\n")


def harmless(text: str) -> str:
    """Text without what would command a terminal: names and messages come from buckets."""
    return _COMMANDS.sub(lambda found: repr(found[0])[1:-1], text)


def plain(value: Any) -> Any:
    """Dataclasses, named tuples, digests and paths as what JSON knows."""
    if isinstance(value, Digest):
        return str(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(inner) for name, inner in asdict(value).items()}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    return str(value)
