"""`stager tag alpaca@v3 prod`"""

from __future__ import annotations

from typing import Annotated

import typer

from stager.cli import settings
from stager.cli.output import Output
from stager.model.names import parse_reference
from stager.ops import tag as verb

app = settings.verb_app()


@app.command()
def tag(
    reference: settings.Reference,
    label: Annotated[str, typer.Argument(metavar="TAG", help="The movable name.")],
    delete: Annotated[bool, typer.Option("--delete", "-d", help="Remove the tag.")] = False,
    remote: settings.Remote = None,
    dry_run: settings.DryRun = False,
    as_json: settings.AsJson = False,
) -> None:
    """Point a movable name at a version."""
    output = Output(as_json)
    workspace = settings.workspace(output, remote, None)
    target = parse_reference(reference)
    if delete:
        report = verb.untag(workspace, target.name, label, dry_run)
    else:
        report = verb.tag(workspace, target, label, dry_run)
    output.result(report, f"{report.name}@{label} -> {report.version or 'nothing'}")
