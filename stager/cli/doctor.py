"""`stager doctor [--offline]`"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from stager import __version__
from stager.cli import settings
from stager.cli.output import Output
from stager.cli.wording import printable
from stager.model.sizes import size_text
from stager.ops.doctor import (
    IN_STEP,
    TOO_FAR,
    CacheReport,
    DoctorReport,
    DoctorRequest,
    RemoteReport,
)
from stager.ops.doctor import doctor as run

app = settings.verb_app()


@app.command()
def doctor(
    offline: Annotated[bool, typer.Option("--offline", help="Ask no server.")] = False,
    remote: settings.Remote = None,
    cache: settings.Cache = None,
    as_json: settings.AsJson = False,
) -> None:
    """Tell what is set and by whom, which credentials are used, and what does not work.

    Exits with the code of the first thing that does not work. Shows no secret.
    """
    output = Output(as_json)
    report = run(settings.workspace(output, remote, cache), DoctorRequest(offline))
    output.result(report, "\n".join(printable(line) for line in _lines(report)))
    if report.problem:
        output.problem(printable(report.problem.message))
        if report.problem.hint:
            output.say(f"        {report.problem.hint}")
        raise typer.Exit(report.problem.exit_code)


def _lines(report: DoctorReport) -> Iterator[str]:
    yield f"stager {__version__}, Python {report.python}"
    yield ""
    yield "settings"
    yield from _table([(row.key, _value(row.value), row.origin) for row in report.settings])
    yield ""
    if report.remote is None:
        yield "remote: none that can be used"
    else:
        yield from _remote(report.remote)
    yield ""
    yield from _cache(report.cache)
    yield ""
    yield "packages"
    yield from _table(list(report.packages.items()))


def _value(value: object) -> str:
    return "-" if value in ("", None) else str(value)


def _remote(remote: RemoteReport) -> Iterator[str]:
    yield f"remote {remote.url}"
    facts = ("vendor", "bucket", "prefix", "endpoint", "region", "addressing")
    yield from _table([(name, text) for name in facts if (text := getattr(remote, name))])
    if remote.credentials:
        yield "  credentials"
        rows = [(attempt.state, attempt.source, attempt.detail) for attempt in remote.credentials]
        yield from _table(rows, "    ")
    yield f"  {remote.answer}"
    if remote.ahead is not None:
        yield f"  {_clock(remote.ahead)}"
    for ability in remote.abilities:
        yield f"  {ability}"


def _clock(ahead: float) -> str:
    if abs(ahead) <= IN_STEP:
        return "this machine's clock and the store's agree"
    side = "ahead of" if ahead > 0 else "behind"
    text = f"this machine's clock is {abs(ahead):.0f} s {side} the store's"
    return f"{text}: requests are refused until it is set" if abs(ahead) >= TOO_FAR else text


def _cache(cache: CacheReport) -> Iterator[str]:
    yield f"cache {cache.path}"
    yield from _table(
        [
            ("disk", cache.file_system),
            ("free", f"{size_text(cache.free)}, {size_text(cache.free_floor)} stays free"),
            ("budget", size_text(cache.budget) if cache.budget else "none"),
            ("locks", cache.locks),
        ]
    )


def _table(rows: Sequence[tuple[str, ...]], indent: str = "  ") -> Iterator[str]:
    widths = [max(map(len, column), default=0) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        yield (indent + "  ".join(cells)).rstrip()
