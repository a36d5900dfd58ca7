"""`stager ls`, `stager ls alpaca@v3`"""

from __future__ import annotations

from typing import Annotated

import typer

from stager.cli import settings
from stager.cli.output import Output
from stager.model.names import parse_reference
from stager.model.tree import FileEntry
from stager.ops import ls as verb

app = settings.verb_app()


@app.command()
def ls(
    reference: Annotated[
        str | None, typer.Argument(metavar="[NAME[@VERSION]]", help="List its files.")
    ] = None,
    long: Annotated[bool, typer.Option("--long", "-l", help="With size and digest.")] = False,
    remote: settings.Remote = None,
    as_json: settings.AsJson = False,
) -> None:
    """Datasets of the remote, or files of a version."""
    output = Output(as_json)
    workspace = settings.workspace(output, remote, None)
    if reference is None:
        output.rows(verb.datasets(workspace), ("dataset",), lambda name: (name,))
        return
    entries = verb.files(workspace, parse_reference(reference))
    header = ("size", "digest", "path") if long else ("path",)
    output.rows(entries, header, _long if long else _short)


def _short(entry: FileEntry) -> tuple[object, ...]:
    return (entry.path,)


def _long(entry: FileEntry) -> tuple[object, ...]:
    return (entry.size, entry.digest, entry.path)
