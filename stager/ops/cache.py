"""cache: what is staged on this node, and taking it off."""

from __future__ import annotations

import time
from dataclasses import dataclass

from stager.cache import staged
from stager.cache.staged import Staged
from stager.errors import CacheError, UsageError
from stager.model.names import Reference
from stager.workspace import Workspace


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A staged version; `used` is when it was last pulled, UTC."""

    reference: str
    path: str
    files: int
    bytes_raw: int
    staged_at: str
    used: str
    pinned: bool
    intact: bool


def ls(workspace: Workspace) -> list[CacheEntry]:
    """Every staged version."""
    return [_entry(found) for found in staged.everything(workspace.folders)]


def rm(workspace: Workspace, reference: Reference, dry_run: bool = False) -> CacheEntry:
    """Removes a version from this node; the remote keeps it. CacheError when it is pinned."""
    found = _found(workspace, reference)
    entry = _entry(found)
    if not dry_run:
        staged.remove(workspace.folders, found)
    return entry


def pin(workspace: Workspace, reference: Reference, pinned: bool = True) -> CacheEntry:
    """Protects a version from removal, or lifts the protection."""
    staged.pin(workspace.folders, _found(workspace, reference), pinned)
    return _entry(_found(workspace, reference))


def _found(workspace: Workspace, reference: Reference) -> Staged:
    if reference.is_latest or reference.selector is None:
        raise UsageError(reason=f"{reference}: name a version, as in {reference.name}@v1")
    found = staged.find(workspace.folders, reference.name, reference.selector)
    if found is None:
        raise CacheError(path=str(reference), reason="is not staged on this node")
    return found


def _entry(found: Staged) -> CacheEntry:
    used = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(found.last_used()))
    receipt = found.receipt
    return CacheEntry(
        reference=found.reference,
        path=str(found.folder),
        files=receipt.files,
        bytes_raw=receipt.bytes_raw,
        staged_at=receipt.staged_at,
        used=used,
        pinned=found.pinned,
        intact=found.is_intact(),
    )
