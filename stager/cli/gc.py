"""`stager gc [--delete]`"""

from __future__ import annotations

from typing import Annotated

import typer

from stager.cli import settings
from stager.cli.output import Output
from stager.model.durations import duration_text, parse_duration
from stager.model.sizes import size_text
from stager.ops.gc import GRACE_SECONDS, GcReport, GcRequest
from stager.ops.gc import gc as run

app = settings.verb_app()


@app.command()
def gc(
    delete: Annotated[bool, typer.Option("--delete", help="Delete, not only show.")] = False,
    grace: Annotated[str, typer.Option(help="Keep what is younger: 36h, 7d.")] = duration_text(
        GRACE_SECONDS
    ),
    force: Annotated[
        bool, typer.Option("--force", help="Go on where only you can know that it is safe.")
    ] = False,
    remote: settings.Remote = None,
    dry_run: settings.DryRun = False,
    quiet: settings.Quiet = False,
    as_json: settings.AsJson = False,
) -> None:
    """Free what no version of the remote refers to; without --delete only show it.

    Safe beside running pushes, as long as a push takes less than the grace. Removed versions
    count until their removal is older than the grace. With --force also a grace under 2h
    (nobody may push meanwhile), a remote without any version, and records gone by hand.
    """
    output = Output(as_json, quiet)
    workspace = settings.workspace(output, remote, None)
    report = run(workspace, GcRequest(parse_duration(grace), force), dry_run or not delete)
    if not as_json:
        output.say(_told(report))
    output.result(report, _table(report))


def _table(report: GcReport) -> str:
    verb = "would free" if report.dry_run else "freed"
    lines = [
        f"{verb} {tally.objects} {kind}, {size_text(tally.bytes)}"
        for kind, tally in report.freed.items()
    ]
    total = f"{verb} {size_text(report.bytes_freed)} in {report.objects_freed} objects"
    return "\n".join([*lines, total])


def _told(report: GcReport) -> str:
    kept = sum(tally.bytes for tally in report.kept.values())
    removed = f", {report.removed} removed lately" if report.removed else ""
    return (
        f"{report.versions} versions{removed}; {size_text(kept)} stay; "
        f"younger than {duration_text(report.grace)} stays in any case"
    )
