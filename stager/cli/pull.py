"""`stager pull alpaca@v3 [DEST]`"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from stager.cache.leases import Lessee
from stager.cli import settings
from stager.cli.output import Output
from stager.model.names import parse_reference
from stager.model.sizes import size_text
from stager.ops.pull import PullReport, PullRequest
from stager.ops.pull import pull as run

app = settings.verb_app()


@app.command()
def pull(
    reference: settings.Reference,
    destination: Annotated[
        Path | None, typer.Argument(metavar="[DEST]", help="Put the version here as well.")
    ] = None,
    receipt: Annotated[
        Path | None, typer.Option(help="Write a copy of the receipt here, for DVC to track.")
    ] = None,
    remote: settings.Remote = None,
    cache: settings.Cache = None,
    dry_run: settings.DryRun = False,
    quiet: settings.Quiet = False,
    as_json: settings.AsJson = False,
) -> None:
    """Put the verified files of a version on this node; prints their folder.

    All or nothing: the folder appears when every byte was checked. A run that was killed
    is continued, callers at the same moment share one download, and a version that is here
    already costs no request. The process that called, a job script or a shell, holds a
    lease on the version as long as it lives, so no other pull evicts it.
    """
    output = Output(as_json, quiet)
    workspace = settings.workspace(output, remote, cache)
    lessee = Lessee(workspace.folders, os.getppid())  # the job script that goes on to train
    request = PullRequest(parse_reference(reference), destination, receipt, lessee)
    report = run(workspace, request, dry_run)
    output.say(_told(report)) if not as_json else None
    output.result(report, report.path)


def _told(report: PullReport) -> str:
    verb = "would fetch" if report.dry_run else "fetched"
    return (
        f"{report.reference}: {report.files} files, {size_text(report.bytes_raw)}; "
        f"{verb} {size_text(report.bytes_transferred)}, reused {size_text(report.bytes_reused)} "
        f"in {report.seconds:.2f} s"
    )
