"""`stager init --remote URL --cache DIR`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stager.cli import settings
from stager.cli.output import Output
from stager.ops.init import init as run

app = settings.verb_app()


@app.command()
def init(
    remote: Annotated[
        str, typer.Option(prompt="remote", help="s3://bucket/team, or a local folder.")
    ],
    cache: Annotated[str, typer.Option(prompt="cache", help="A folder on a fast local disk.")],
    as_json: settings.AsJson = False,
) -> None:
    """Write stager.toml into the working directory."""
    output = Output(as_json)
    path = run(Path.cwd(), remote, cache)
    output.result({"path": str(path)}, str(path))
