"""`stager verify alpaca@v3 [--repair | --in-remote]`"""

from __future__ import annotations

from typing import Annotated

import typer

from stager.cli import settings
from stager.cli.output import Output
from stager.errors import DigestMismatch
from stager.model.names import parse_reference
from stager.model.sizes import size_text
from stager.ops import verify as verb

app = settings.verb_app()


@app.command()
def verify(
    reference: settings.Reference,
    repair: Annotated[bool, typer.Option(help="Fetch the frames that are wrong.")] = False,
    packs: Annotated[
        bool, typer.Option("--in-remote", help="Check every pack of the version instead.")
    ] = False,
    remote: settings.Remote = None,
    cache: settings.Cache = None,
    quiet: settings.Quiet = False,
    as_json: settings.AsJson = False,
) -> None:
    """Check every byte of a version against its digests; exit code 21 when one is wrong."""
    output = Output(as_json, quiet)
    workspace = settings.workspace(output, remote, cache)
    target = parse_reference(reference)
    if packs:
        report = verb.verify_remote(workspace, target)
    else:
        report = verb.verify(workspace, target, repair)
    for name, wrong in report.damaged.items():
        output.problem(f"{name}: {wrong}" + (" (repaired)" if report.repaired else ""))
    sound = "sound" if report.is_sound else f"{len(report.damaged)} damaged"
    what = f"{report.checked} checked, {size_text(report.bytes_read)} read"
    output.result(report, f"{report.reference}: {what}, {sound}")
    if not report.is_sound:
        raise typer.Exit(DigestMismatch.exit_code)
