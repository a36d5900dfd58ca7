"""cache: what is staged on this node, who needs it, and taking it off."""

from __future__ import annotations

import time
from dataclasses import dataclass

from stager.cache import eviction, leases, staged
from stager.cache.in_use import in_use
from stager.cache.staged import Staged
from stager.cache.usage import Usage, measure
from stager.errors import CacheError, UsageError
from stager.model.names import Reference
from stager.ops.reserve import copies
from stager.workspace import Workspace


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A staged version; `used` is when it was last pulled, UTC.

    `bytes_unique` is what the cache takes less without it: other versions share files.
    """

    reference: str
    path: str
    files: int
    bytes_raw: int
    bytes_unique: int
    staged_at: str
    used: str
    pinned: bool
    leased: tuple[str, ...]
    intact: bool


def ls(workspace: Workspace, usage: Usage | None = None) -> list[CacheEntry]:
    """Every staged version."""
    usage = usage or measure(workspace.folders)
    return [_entry(workspace, found, usage) for found in staged.everything(workspace.folders)]


def rm(
    workspace: Workspace,
    reference: Reference,
    force: bool = False,
    dry_run: bool = False,
    asker: int = 0,
) -> CacheEntry:
    """Removes a version from this node; CacheError when it is pinned, or needed.

    Needed is what a process leases or has open, and what the remote does not have; `force`
    does not ask. A lease of the process `asker` is no reason: it is the one that asks.
    """
    found = _found(workspace, reference)
    folders = workspace.folders
    entry = _entry(workspace, found, measure(folders))
    reason = "pinned" if found.pinned else ""
    if not force:
        users = in_use(folders)
        reason = eviction.reason_to_stay(folders, found, users, asker) or copies(workspace)(found)
    if not reason and not dry_run:
        reason = eviction.evict(folders, found, asker, force)
    if reason:
        hint = "stager cache unpin" if reason == "pinned" else "--force removes it all the same"
        raise CacheError(path=found.reference, reason=reason, hint=hint)
    return entry


def pin(workspace: Workspace, reference: Reference, pinned: bool = True) -> CacheEntry:
    """Protects a version from removal, or lifts the protection."""
    staged.pin(workspace.folders, _found(workspace, reference), pinned)
    return _entry(workspace, _found(workspace, reference), measure(workspace.folders))


def _found(workspace: Workspace, reference: Reference) -> Staged:
    if reference.is_latest or reference.selector is None:
        raise UsageError(reason=f"{reference}: name a version, as in {reference.name}@v1")
    name, version = reference.name, reference.selector
    found = eviction.settled(workspace.folders, name, version, workspace.listener)
    if found is None:
        raise CacheError(path=str(reference), reason="is not staged on this node")
    return found


def _entry(workspace: Workspace, found: Staged, usage: Usage) -> CacheEntry:
    receipt = found.receipt
    return CacheEntry(
        reference=found.reference,
        path=str(found.folder),
        files=receipt.files,
        bytes_raw=receipt.bytes_raw,
        bytes_unique=usage.unique(found.folder),
        staged_at=receipt.staged_at,
        used=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(found.last_used())),
        pinned=found.pinned,
        leased=tuple(leases.holders(workspace.folders, receipt.name, receipt.version)),
        intact=found.is_intact(),
    )
