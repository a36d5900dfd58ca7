"""pull: the verified files of a version on this node, all or nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stager.cache import eviction, placing, staging
from stager.cache.leases import Lessee
from stager.cache.locks import exclusive
from stager.cache.staged import Staged
from stager.errors import CacheError
from stager.model.names import Reference
from stager.workspace import Workspace

if TYPE_CHECKING:
    from stager.ops.arrive import Arrival


class PullRequest(NamedTuple):
    """What to pull, where to put it (None: leave it in the cache), and a receipt to copy.

    `lessee` is who goes on to use it in the cache; None is nobody.
    """

    reference: Reference
    destination: Path | None = None
    receipt: Path | None = None
    lessee: Lessee | None = None


@dataclass(frozen=True, slots=True)
class PullReport:
    """What a pull did, or with `dry_run` would do. Bytes and seconds."""

    reference: str
    version: str
    tree: str
    path: str
    files: int
    bytes_raw: int
    bytes_transferred: int = 0
    bytes_reused: int = 0
    requests: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    limit: str = "none"
    dry_run: bool = False


def pull(workspace: Workspace, request: PullRequest, dry_run: bool = False) -> PullReport:
    """Stages the version unless it is here, then puts it where it was asked for."""
    lessee = _lessee(workspace, request, dry_run)
    try:
        report = _pull(workspace, request, dry_run, lessee)
    except BaseException:
        lessee.release()
        raise
    if lessee is not request.lessee:
        lessee.release()
    return report


def _lessee(workspace: Workspace, request: PullRequest, dry_run: bool) -> Lessee:
    """Who leases: nobody for a dry run; this call alone when the cache's copy is not used on."""
    if dry_run:
        return Lessee(workspace.folders, 0)
    if request.destination is not None or request.lessee is None:
        return Lessee(workspace.folders, os.getpid(), lasting=False)
    return request.lessee


def _pull(workspace: Workspace, request: PullRequest, dry_run: bool, lessee: Lessee) -> PullReport:
    destination = request.destination and Path(os.path.abspath(request.destination))
    found = ready(workspace, request.reference, lessee)
    reused = found.receipt.bytes_raw if found else 0
    if found is None:
        from stager.ops import arrive  # obstore and zstandard load only when bytes must move

        if destination is not None:
            placing.check(workspace.folders, destination)
        arrival = arrive.arrive(workspace, request.reference, dry_run, lessee)
        if arrival.staged is None:
            return _planned(workspace, request.reference, arrival)
        found, reused = arrival.staged, arrival.bytes_reused
    if not dry_run:
        found.touch()
    path = found.folder
    if destination is not None and not dry_run:
        path = _put(workspace, found, destination)
    if request.receipt is not None and not dry_run:
        request.receipt.parent.mkdir(parents=True, exist_ok=True)
        staging.write_whole(request.receipt, found.receipt.encode())
    return _report(workspace, found, path, reused, dry_run)


def ready(workspace: Workspace, reference: Reference, lessee: Lessee) -> Staged | None:
    """The named version, when it is staged, intact and from this remote: no request is made.

    It is leased before it is looked for, so that it stays when it is found. `name`,
    `name@latest` and tags can move, so only the remote knows what they mean.
    """
    if reference.is_latest or reference.selector is None:
        return None
    lessee.lease(reference.name, reference.selector)
    found = eviction.settled(
        workspace.folders, reference.name, reference.selector, workspace.listener
    )
    if found is None or not found.is_intact():
        return None
    if workspace.config.remote and found.receipt.remote != workspace.remote_url:
        return None
    return found


def _put(workspace: Workspace, found: Staged, destination: Path) -> Path:
    folders = workspace.folders
    if destination.is_relative_to(found.folder) or found.folder.is_relative_to(destination):
        raise CacheError(path=str(destination), reason="lies inside the cache, or holds it")
    with exclusive(folders.lock(folders.placed(destination).stem), workspace.listener):
        if not placing.is_placed(folders, destination, found.receipt.tree):
            placing.check(folders, destination)
            placing.place(folders, found.folder, found.receipt, destination)
    return destination


def _planned(workspace: Workspace, reference: Reference, arrival: Arrival) -> PullReport:
    record = arrival.record
    return PullReport(
        reference=str(reference),
        version=record.version,
        tree=record.tree,
        path=str(workspace.folders.version(record.name, record.version)),
        files=record.files,
        bytes_raw=record.bytes_raw,
        bytes_transferred=arrival.bytes_to_fetch,
        bytes_reused=arrival.bytes_reused,
        requests=workspace.meter.by_kind(),
        seconds=round(workspace.meter.seconds, 3),
        dry_run=True,
    )


def _report(
    workspace: Workspace, found: Staged, path: Path, reused: int, dry_run: bool
) -> PullReport:
    receipt, meter = found.receipt, workspace.meter
    return PullReport(
        reference=found.reference,
        version=receipt.version,
        tree=receipt.tree,
        path=str(path),
        files=receipt.files,
        bytes_raw=receipt.bytes_raw,
        bytes_transferred=meter.received,
        bytes_reused=reused,
        requests=meter.by_kind(),
        seconds=round(meter.seconds, 3),
        limit=meter.limit(),
        dry_run=dry_run,
    )
