"""`stager import --dvc REPO[@REV] PATH alpaca`"""

from __future__ import annotations

from typing import Annotated

import typer

from stager.cli import settings
from stager.cli.output import Output
from stager.errors import UsageError
from stager.model.names import parse_reference
from stager.model.sizes import size_text
from stager.ops.find import ImportRequest
from stager.ops.import_ import ImportReport
from stager.ops.import_ import import_ as run

app = settings.verb_app()


@app.command("import")
def import_(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[PATH] NAME[@LABEL]", help="What to take (not with --hf), and the dataset."
        ),
    ],
    dvc: Annotated[
        str | None, typer.Option(metavar="REPO[@REV]", help="A DVC repository: folder or URL.")
    ] = None,
    git_lfs: Annotated[
        str | None, typer.Option(metavar="REPO[@REV]", help="A Git repository with LFS pointers.")
    ] = None,
    hf: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="A download of the hub: a snapshot or --local-dir."),
    ] = None,
    dvc_remote: Annotated[
        str, typer.Option(metavar="NAME", help="The DVC remote to use, not the default one.")
    ] = "",
    message: settings.Message = "",
    remote: settings.Remote = None,
    cache: settings.Cache = None,
    dry_run: settings.DryRun = False,
    quiet: settings.Quiet = False,
    as_json: settings.AsJson = False,
) -> None:
    """Make a version of what another tool keeps; prints its reference.

    Every md5, sha256 or Git id that the tool wrote down is checked while the bytes are
    read. One file that is not as promised, and there is no version. Without @REV, --dvc takes
    the pointers in the working tree (HEAD for a URL), --git-lfs takes HEAD.
    """
    output = Output(as_json, quiet)
    given = {"dvc": dvc, "git-lfs": git_lfs, "hf": hf}
    chosen = [(kind, where) for kind, where in given.items() if where is not None]
    if len(chosen) != 1:
        raise UsageError(reason="give one of --dvc, --git-lfs and --hf")
    ((kind, where),) = chosen
    if len(words) != (1 if kind == "hf" else 2):
        raise UsageError(reason="--hf takes NAME, --dvc and --git-lfs take PATH NAME")
    path = "" if kind == "hf" else words[0]
    reference = parse_reference(words[-1])
    request = ImportRequest(kind, where, path, reference, message, dvc_remote)
    report = run(settings.workspace(output, remote, cache), request, dry_run)
    if not as_json:
        output.say(_told(report))
    output.result(report, report.reference)


def _told(report: ImportReport) -> str:
    checks = f"{report.checked} checked, {report.unchecked} without a digest to check"
    if report.dry_run:
        return (
            f"{report.reference}: would import {report.files} files, "
            f"{size_text(report.bytes_raw)}, from {report.path} ({checks})"
        )
    if not report.created:
        return f"{report.reference} holds exactly this already"
    return (
        f"{report.reference}: {report.files} files, {size_text(report.bytes_raw)}, from "
        f"{report.path} ({checks}); stored {size_text(report.bytes_stored)}, "
        f"shared {size_text(report.bytes_reused)} in {report.seconds:.2f} s"
    )
