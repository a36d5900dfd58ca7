"""The options that every verb has, and the workspace they make."""

from __future__ import annotations

from typing import Annotated

import typer

from stager import config
from stager.cli.output import Output
from stager.workspace import Workspace

Remote = Annotated[
    str | None, typer.Option(help="Where versions live: s3://bucket/team, or a local folder.")
]
Cache = Annotated[str | None, typer.Option(help="Where versions are staged on this node.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the result.")]
DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Show what would be done.")]
Reference = Annotated[str, typer.Argument(help="NAME, NAME@VERSION or NAME@TAG.")]
Message = Annotated[str, typer.Option("--message", "-m", help="A line for the log.")]


def verb_app() -> typer.Typer:
    """A typer application for one verb, speaking plainly."""
    return typer.Typer(
        rich_markup_mode=None,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def workspace(output: Output, remote: str | None, cache: str | None, **others: object) -> Workspace:
    """Settings of this call, with its listener."""
    flags = {"remote": remote, "cache": cache, **others}
    return Workspace(config.load(flags=flags), output.listener())
