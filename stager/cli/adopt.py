"""`stager adopt s3://bucket/datasets/alpaca/v3 alpaca`"""

from __future__ import annotations

from typing import Annotated

import typer

from stager.cli import settings
from stager.cli.output import Output
from stager.model.names import parse_reference
from stager.model.sizes import size_text
from stager.ops.adopt import AdoptRequest
from stager.ops.adopt import adopt as run
from stager.ops.push import PushReport

app = settings.verb_app()


@app.command()
def adopt(
    url: Annotated[str, typer.Argument(help="The prefix whose objects become the version.")],
    reference: Annotated[str, typer.Argument(metavar="NAME[@LABEL]", help="The dataset.")],
    message: settings.Message = "",
    no_hash: Annotated[
        bool,
        typer.Option("--no-hash", help="Trust size and ETag; the first pull finds the digests."),
    ] = False,
    remote: settings.Remote = None,
    cache: settings.Cache = None,
    dry_run: settings.DryRun = False,
    quiet: settings.Quiet = False,
    as_json: settings.AsJson = False,
) -> None:
    """Make a version of a prefix that exists in a bucket, without copying; prints its reference.

    An object that changes later is reported by name and never served as the version.
    """
    output = Output(as_json, quiet)
    workspace = settings.workspace(output, remote, cache)
    request = AdoptRequest(url, parse_reference(reference), message, not no_hash)
    report = run(workspace, request, dry_run)
    if not as_json:
        output.say(_told(report))
    output.result(report, report.reference)


def _told(report: PushReport) -> str:
    if not report.created and not report.dry_run:
        return f"{report.reference} holds exactly this already"
    verb = "would adopt" if report.dry_run else "adopted"
    return f"{verb} {report.files} files, {size_text(report.bytes_raw)}, from {report.path}"
