"""`stager diff alpaca@v3 alpaca@v4 --records`"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from stager.cli import settings
from stager.cli.output import Output
from stager.cli.wording import printable
from stager.model.sizes import size_text
from stager.ops.diff import RENAMED, DiffReport, DiffRequest, FileDiff
from stager.ops.diff import diff as run
from stager.ops.diff_records import RecordCounts

app = settings.verb_app()

DIFFERS = 1  # as git and diff say it
_SIDE = "NAME[@VERSION] or a file or folder; one that begins with . or / is a path."


@app.command()
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help=_SIDE)],
    after: Annotated[str, typer.Argument(metavar="B", help="What to compare it with.")],
    records: Annotated[
        bool, typer.Option("--records", help="Show the records that differ, side by side.")
    ] = False,
    limit: Annotated[int, typer.Option(help="Records to show of each file; 0 for all.")] = 20,
    key: Annotated[
        str, typer.Option(help="A field (meta.id) that makes two records one, changed.")
    ] = "",
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 when they differ.")
    ] = False,
    remote: settings.Remote = None,
    cache: settings.Cache = None,
    dry_run: settings.DryRun = False,
    quiet: settings.Quiet = False,
    as_json: settings.AsJson = False,
) -> None:
    """Show what differs between two versions or paths, in files and in records.

    Files by digest: added, removed, changed, renamed. Of changed text files the lines: how
    many are only on one side, and how many stand in another order.
    """
    output = Output(as_json, quiet)
    workspace = settings.workspace(output, remote, cache)
    report = run(workspace, DiffRequest(before, after, records, limit, key), dry_run)
    if as_json:
        output.result(report, "")
    else:
        _tell(output, report)
    if exit_code and not report.is_same:
        raise typer.Exit(DIFFERS)


def _tell(output: Output, report: DiffReport) -> None:
    for mark, side in (("---", report.before), ("+++", report.after)):
        output.line(f"{mark} {printable(side.name)}  ({side.kind})")
    view = None
    if any(change.rows for change in report.changes):
        from stager.cli.record_view import View  # rich loads only for what it draws

        view = View(output)
    for change in report.changes:
        output.line(_line(change))
        if view is not None and change.rows:
            view.show(change)
    output.line(_total(report))


def _line(change: FileDiff) -> str:
    path = printable(change.path)
    if change.path_before != change.path:
        path = f"{printable(change.path_before)} -> {path}"
    sizes = [
        size_text(size) for size in (change.size_before, change.size_after) if size is not None
    ]
    if change.records is not None:
        what = _counts(change.records) + _fields(change.fields)
    else:
        what = sizes[0] if change.kind == RENAMED else " -> ".join(sizes)
    return f"{change.kind:8}  {path}  {what}"


def _counts(records: RecordCounts) -> str:
    """What there is of it; text that differs has at least one of these."""
    kinds = ("removed", "added", "changed", "moved")
    given = [f"{getattr(records, kind)} {kind}" for kind in kinds if getattr(records, kind)]
    return f"{', '.join(given) or '0 differ'} of {_before(records)} -> {_after(records)} records"


def _before(records: RecordCounts) -> int:
    return records.same + records.moved + records.changed + records.removed


def _after(records: RecordCounts) -> int:
    return records.same + records.moved + records.changed + records.added


def _fields(fields: Mapping[str, int]) -> str:
    named = (f"{printable(name) or 'whole record'} {count}" for name, count in fields.items())
    text = ", ".join(named)
    return f"; in {text}" if text else ""


def _total(report: DiffReport) -> str:
    if report.is_same:
        return f"the same {report.files['same']} files"
    files = ", ".join(f"{count} {kind}" for kind, count in report.files.items() if count)
    if report.dry_run:
        return f"files: {files}; would fetch at most {size_text(report.bytes_to_fetch)}"
    if report.records == RecordCounts():
        return f"files: {files}"
    return f"files: {files}; records: {_counts(report.records)}{_fields(report.fields)}"
