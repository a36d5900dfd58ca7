"""`stager log alpaca`"""

from __future__ import annotations

from typing import Annotated

import typer

from stager.cli import settings
from stager.cli.output import Output
from stager.model.sizes import size_text
from stager.ops.log import LogEntry
from stager.ops.log import log as run

app = settings.verb_app()


@app.command()
def log(
    name: Annotated[str, typer.Argument(help="A dataset.")],
    remote: settings.Remote = None,
    as_json: settings.AsJson = False,
) -> None:
    """Versions of a dataset, newest first."""
    output = Output(as_json)
    entries = run(settings.workspace(output, remote, None), name)
    header = ("version", "time", "files", "size", "added", "tags", "author", "message")
    output.rows(entries, header, _cells)


def _cells(entry: LogEntry) -> tuple[object, ...]:
    record = entry.record
    return (
        record.version,
        record.time,
        record.files,
        size_text(record.bytes_raw),
        size_text(record.bytes_new),
        ",".join(entry.tags) or "-",
        record.author,
        record.message or "-",
    )
