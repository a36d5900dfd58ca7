"""`stager demo [FOLDER]`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stager import config
from stager.cli import settings
from stager.cli.output import Output
from stager.errors import DigestMismatch
from stager.model.sizes import size_text
from stager.ops.demo import DemoReport
from stager.ops.demo import demo as run

app = settings.verb_app()


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Remote, cache and data go here.")] = Path(".demo"),
    as_json: settings.AsJson = False,
) -> None:
    """Push a made-up dataset twice, pull both versions, verify, and see what the second cost."""
    output = Output(as_json, quiet=True)
    report = run(config.load(), folder, output.listener())
    output.result(report, _text(report))
    if not all(verified.is_sound for verified in report.verified):
        raise typer.Exit(DigestMismatch.exit_code)


def _text(report: DemoReport) -> str:
    lines = ["pushed"]
    lines += [
        f"  {push.reference}  {size_text(push.bytes_raw)} of JSONL, sent "
        f"{size_text(push.bytes_transferred)} ({push.bytes_transferred / push.bytes_raw:.1%}) "
        f"in {push.seconds:.2f} s"
        for push in report.pushes
    ]
    lines.append("pulled and verified, every byte")
    lines += [
        f"  {pull.reference}  received {size_text(pull.bytes_transferred)} in {pull.seconds:.2f} s"
        f", {'sound' if verified.is_sound else 'DAMAGED'}"
        for pull, verified in zip(report.pulls, report.verified, strict=True)
    ]
    lines.append("open in a trainer")
    lines += [f"  {pull.path}" for pull in report.pulls]
    return "\n".join(lines)
