"""`stager cache [ls | rm | pin | unpin | prune]`"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from stager.cli import settings
from stager.cli.output import Output
from stager.errors import DiskFull, UsageError
from stager.model.names import parse_reference
from stager.model.sizes import size_text
from stager.ops import cache as verb
from stager.ops import prune as tidying
from stager.ops.cache import CacheEntry
from stager.ops.prune import CacheStatus

app = settings.verb_app()
HEADER = ("version", "files", "size", "alone", "used", "state", "path")


@app.callback(invoke_without_command=True)
def _cache(
    context: typer.Context, cache: settings.Cache = None, as_json: settings.AsJson = False
) -> None:
    """What is staged on this node, what it takes, and who needs it."""
    if context.invoked_subcommand is not None:
        if cache is not None or as_json:
            word = context.invoked_subcommand
            raise UsageError(reason=f"options go after the word: stager cache {word} ...")
        return
    output = Output(as_json)
    status = tidying.status(settings.workspace(output, None, cache))
    output.result(status, _told(status))
    if not as_json:
        output.rows(status.versions, HEADER, _cells)


@app.command()
def ls(cache: settings.Cache = None, as_json: settings.AsJson = False) -> None:
    """Staged versions."""
    output = Output(as_json)
    entries = verb.ls(settings.workspace(output, None, cache))
    output.rows(entries, HEADER, _cells)


@app.command()
def rm(
    reference: settings.Reference,
    force: Annotated[
        bool, typer.Option("--force", help="Though it is in use, or the remote has no copy.")
    ] = False,
    cache: settings.Cache = None,
    dry_run: settings.DryRun = False,
    as_json: settings.AsJson = False,
) -> None:
    """Remove a version from this node, unless it is needed here or the remote has no copy."""
    output = Output(as_json)
    workspace = settings.workspace(output, None, cache)
    entry = verb.rm(workspace, parse_reference(reference), force, dry_run, os.getppid())
    verb_text = "would remove" if dry_run else "removed"
    output.result(entry, f"{verb_text} {entry.reference}, {size_text(entry.bytes_unique)}")


@app.command()
def prune(
    cache: settings.Cache = None,
    dry_run: settings.DryRun = False,
    as_json: settings.AsJson = False,
) -> None:
    """Bring the cache under its budget and floor, and clear what killed runs left.

    Exit code 41 when what may go is not enough.
    """
    output = Output(as_json)
    report = tidying.prune(settings.workspace(output, None, cache), dry_run)
    for name, reason in sorted(report.kept.items()):
        output.say(f"{name} stays: {reason}")
    verb_text = "would remove" if dry_run else "removed"
    lines = [f"{verb_text} {one.name}, {size_text(one.bytes)}" for one in report.removed]
    lines += [f"{path} is gone; forgotten" for path in report.forgotten]
    lines.append(f"{verb_text} {size_text(report.bytes_removed)}")
    output.result(report, "\n".join(lines))
    if report.missing:
        output.problem(f"still {size_text(report.missing)} too many")
        raise typer.Exit(DiskFull.exit_code)


@app.command()
def pin(
    reference: settings.Reference,
    cache: settings.Cache = None,
    as_json: settings.AsJson = False,
) -> None:
    """Protect a version from removal."""
    _pin(reference, cache, as_json, True)


@app.command()
def unpin(
    reference: settings.Reference,
    cache: settings.Cache = None,
    as_json: settings.AsJson = False,
) -> None:
    """No longer protect a version from removal."""
    _pin(reference, cache, as_json, False)


def _pin(reference: str, cache: str | None, as_json: bool, pinned: bool) -> None:
    output = Output(as_json)
    workspace = settings.workspace(output, None, cache)
    entry = verb.pin(workspace, parse_reference(reference), pinned)
    output.result(entry, f"{entry.reference} is {'pinned' if pinned else 'not pinned'}")


def _cells(entry: CacheEntry) -> tuple[object, ...]:
    state = "intact" if entry.intact else "changed"
    state += ", pinned" if entry.pinned else ""
    state += f", leased by {', '.join(entry.leased)}" if entry.leased else ""
    size, alone = size_text(entry.bytes_raw), size_text(entry.bytes_unique)
    return (entry.reference, entry.files, size, alone, entry.used, state, entry.path)


def _told(status: CacheStatus) -> str:
    versions, staging = size_text(status.bytes_versions), size_text(status.bytes_staging)
    leftovers = size_text(status.bytes_leftovers)
    budget = size_text(status.budget) if status.budget else "none"
    return (
        f"{status.path} ({status.file_system}, mounted at {status.mounted_at})\n"
        f"used {size_text(status.bytes_used)}: versions {versions}, staging {staging}, "
        f"leftovers {leftovers}\n"
        f"budget {budget}, free {size_text(status.free)}, floor {size_text(status.free_floor)}, "
        f"promised to running pulls {size_text(status.promised)}; {status.leases} lease(s)"
    )
