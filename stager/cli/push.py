"""`stager push PATH alpaca`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stager.cli import settings
from stager.cli.output import Output
from stager.model.names import parse_reference
from stager.model.sizes import size_text
from stager.ops.push import PushReport, PushRequest
from stager.ops.push import push as run

app = settings.verb_app()

NO_BASE = "none"
M_MMAP_THRESHOLD = -3  # malloc.h
LARGE_BUFFER = 16 * 1024 * 1024


@app.command()
def push(
    path: Annotated[Path, typer.Argument(help="A file or folder.")],
    reference: Annotated[str, typer.Argument(metavar="NAME[@LABEL]", help="The dataset.")],
    message: settings.Message = "",
    plain: Annotated[
        bool, typer.Option("--plain", help="Keep the files as they are in the bucket.")
    ] = False,
    base: Annotated[
        str, typer.Option(metavar="NAME@V", help="Share content with this version, or `none`.")
    ] = "",
    record_index: Annotated[
        bool | None,
        typer.Option(help="Write the index that lets others push without having the base."),
    ] = None,
    remote: settings.Remote = None,
    cache: settings.Cache = None,
    dry_run: settings.DryRun = False,
    quiet: settings.Quiet = False,
    as_json: settings.AsJson = False,
) -> None:
    """Make a new version from a local file or folder; prints its reference.

    The version exists when its last byte is in the remote and not before. What the base
    holds, by default the latest version of the dataset, is referred to and not sent again:
    whole files, and in text files every record.
    """
    _return_large_buffers()
    output = Output(as_json, quiet)
    workspace = settings.workspace(output, remote, cache, record_index=record_index)
    request = PushRequest(
        source=path,
        reference=parse_reference(reference),
        message=message,
        plain=plain,
        base=parse_reference(base) if base not in ("", NO_BASE) else None,
        alone=base == NO_BASE,
    )
    report = run(workspace, request, dry_run)
    if not as_json:
        output.say(_told(report))
    output.result(report, report.reference)


def _return_large_buffers() -> None:
    """Packs go back to the system when they are sent: mallopt(3), M_MMAP_THRESHOLD.

    Left alone, glibc raises the threshold to the largest buffer it has seen and keeps packs
    in heaps full of holes: 385 MB at the peak of a push of 2 GB, with this 297, in the same time.
    """
    import ctypes

    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(M_MMAP_THRESHOLD, LARGE_BUFFER)


def _told(report: PushReport) -> str:
    if not report.created and not report.dry_run:
        return f"{report.reference} holds exactly this already"
    verb = "would store" if report.dry_run else "stored"
    return (
        f"{report.reference}: {report.files} files, {size_text(report.bytes_raw)}; "
        f"{verb} {size_text(report.bytes_stored)}, shared {size_text(report.bytes_reused)} "
        f"in {report.seconds:.2f} s"
    )
