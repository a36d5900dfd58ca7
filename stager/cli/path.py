"""`stager path alpaca@v3`"""

from __future__ import annotations

from stager.cli import settings
from stager.cli.output import Output
from stager.model.names import parse_reference
from stager.ops.path import path as run

app = settings.verb_app()


@app.command()
def path(
    reference: settings.Reference,
    cache: settings.Cache = None,
    as_json: settings.AsJson = False,
) -> None:
    """Where a staged version lies on this node; fails when it is not here and intact."""
    output = Output(as_json)
    folder = run(settings.workspace(output, None, cache), parse_reference(reference))
    output.result({"reference": reference, "path": str(folder)}, str(folder))
