"""arrive: from a reference to a staged version, under the lock that makes it one download."""

from __future__ import annotations

from typing import NamedTuple

from stager.cache import staged
from stager.cache.leases import Lessee
from stager.cache.staged import Staged
from stager.catalog import versions
from stager.errors import CacheError
from stager.model.names import Reference
from stager.model.version import VersionRecord
from stager.ops import stage
from stager.workspace import Workspace


class Arrival(NamedTuple):
    """The version a reference meant, and what it took; `staged` is None after a dry run."""

    record: VersionRecord
    staged: Staged | None
    bytes_to_fetch: int = 0
    bytes_reused: int = 0


def arrive(workspace: Workspace, reference: Reference, dry_run: bool, lessee: Lessee) -> Arrival:
    """Stages what `reference` means now, unless that is here and intact; leases it first."""
    record = versions.resolve(workspace.remote, reference)
    lessee.lease(record.name, record.version)
    if found := _here(workspace, record):
        return Arrival(record, found, 0, record.bytes_raw)
    if dry_run:
        planned = stage.plan(workspace, record)
        return Arrival(record, None, planned.bytes_to_fetch, planned.bytes_reused)
    with stage.lock(workspace, record):
        if found := _here(workspace, record):
            return Arrival(record, found, 0, record.bytes_raw)
        planned = stage.plan(workspace, record)
        return Arrival(
            record,
            stage.execute(workspace, planned),
            planned.bytes_to_fetch,
            planned.bytes_reused,
        )


def _here(workspace: Workspace, record: VersionRecord) -> Staged | None:
    found = staged.find(workspace.folders, record.name, record.version)
    if found is None:
        return None
    if record.is_hashed and found.receipt.tree != record.tree:
        reason = f"is another version of that name, staged from {found.receipt.remote}"
        hint = "use another --cache, or `stager cache rm` it"
        raise CacheError(path=found.reference, reason=reason, hint=hint)
    return found if found.is_intact() else None
