"""`stager rm alpaca@v3 [alpaca@v4 ...]`"""

from __future__ import annotations

from typing import Annotated

import typer

from stager.cli import settings
from stager.cli.output import Output
from stager.model.names import parse_reference
from stager.ops.rm import RemovedVersion, RmRequest
from stager.ops.rm import rm as run

app = settings.verb_app()


@app.command()
def rm(
    references: Annotated[
        list[str], typer.Argument(metavar="NAME@VERSION...", help="Versions, by their labels.")
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Also a version that tags point to, with the tags.")
    ] = False,
    remote: settings.Remote = None,
    dry_run: settings.DryRun = False,
    quiet: settings.Quiet = False,
    as_json: settings.AsJson = False,
) -> None:
    """Take versions out of the remote; `stager gc` frees their bytes later.

    A label is never given again, for nodes may have the old version staged.
    """
    output = Output(as_json, quiet)
    workspace = settings.workspace(output, remote, None)
    request = RmRequest([parse_reference(each) for each in references], force)
    report = run(workspace, request, dry_run)
    output.result(report, "\n".join(_told(each, dry_run) for each in report.versions))


def _told(version: RemovedVersion, dry_run: bool) -> str:
    if version.already:
        told = f"{version.reference} was removed already"
    else:
        told = f"{'would remove' if dry_run else 'removed'} {version.reference}"
    return told + (f", and the tag(s) {', '.join(version.tags)}" if version.tags else "")
