"""`stager du [NAME...]`"""

from __future__ import annotations

from typing import Annotated

import typer

from stager.cli import settings
from stager.cli.output import Output
from stager.model.sizes import size_text
from stager.ops.du import DuReport, VersionUsage
from stager.ops.du import du as run

app = settings.verb_app()


@app.command()
def du(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help="Only these datasets.")
    ] = None,
    remote: settings.Remote = None,
    as_json: settings.AsJson = False,
) -> None:
    """What the versions of the remote cost, what they share, and what removing one would free."""
    output = Output(as_json)
    report = run(settings.workspace(output, remote, None), names or ())
    if as_json:
        output.result(report, "")
        return
    output.rows(report.versions, ("version", "size", "added", "shared", "frees"), _cells)
    output.say(_totals(report))


def _cells(usage: VersionUsage) -> tuple[object, ...]:
    sizes = (usage.raw, usage.added, usage.shared, usage.frees)
    return (usage.reference, *map(size_text, sizes))


def _totals(report: DuReport) -> str:
    return (
        f"the whole remote: {size_text(report.stored)} stored, {size_text(report.dead)} dead in "
        f"the same objects, {size_text(report.metadata)} metadata, "
        f"{size_text(report.unreferenced)} unreferenced; uploaded whole the versions would take "
        f"{size_text(report.whole)}, {report.ratio} times as much"
    )
