"""`stager cache ls|rm|pin|unpin`"""

from __future__ import annotations

from stager.cli import settings
from stager.cli.output import Output
from stager.model.names import parse_reference
from stager.model.sizes import size_text
from stager.ops import cache as verb
from stager.ops.cache import CacheEntry

app = settings.verb_app()


@app.callback()
def _cache() -> None:
    """What is staged on this node."""


@app.command()
def ls(cache: settings.Cache = None, as_json: settings.AsJson = False) -> None:
    """Staged versions."""
    output = Output(as_json)
    entries = verb.ls(settings.workspace(output, None, cache))
    output.rows(entries, ("version", "files", "size", "used", "state", "path"), _cells)


@app.command()
def rm(
    reference: settings.Reference,
    cache: settings.Cache = None,
    dry_run: settings.DryRun = False,
    as_json: settings.AsJson = False,
) -> None:
    """Remove a version from this node; the remote keeps it."""
    output = Output(as_json)
    workspace = settings.workspace(output, None, cache)
    entry = verb.rm(workspace, parse_reference(reference), dry_run)
    verb_text = "would remove" if dry_run else "removed"
    output.result(entry, f"{verb_text} {entry.reference}, {size_text(entry.bytes_raw)}")


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
    return (entry.reference, entry.files, size_text(entry.bytes_raw), entry.used, state, entry.path)
