"""Every verb with its arguments and options, one a line.

python -m tests.architecture.cli_options > tests/architecture/cli_options.txt
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from stager.cli import app


def listing() -> str:
    """The whole command line as text."""
    return "".join(f"{line}\n" for line in _lines("stager", typer.main.get_command(app.app)))


def _lines(name: str, command: Any) -> Iterator[str]:
    for parameter in command.params:
        shown = "/".join([*parameter.opts, *parameter.secondary_opts])
        if parameter.param_type_name == "argument":
            shown = parameter.human_readable_name
        flag = "" if getattr(parameter, "is_flag", False) else f" {parameter.type.name}"
        yield f"{name} {shown}{flag}{' required' if parameter.required else ''}"
    if hasattr(command, "list_commands"):
        context = typer.Context(command, info_name=name)
        for verb in command.list_commands(context):
            yield from _lines(f"{name} {verb}", command.get_command(context, verb))


if __name__ == "__main__":
    print(listing(), end="")
