"""path: where a staged version lies on this node. Asks nobody, fetches nothing."""

from __future__ import annotations

from pathlib import Path

from stager.cache import eviction
from stager.errors import CacheError, UsageError
from stager.model.names import Reference
from stager.workspace import Workspace


def path(workspace: Workspace, reference: Reference) -> Path:
    """The folder, when the version is staged and intact; CacheError otherwise."""
    if reference.is_latest or reference.selector is None:
        raise UsageError(reason=f"{reference}: name a version, as in {reference.name}@v1")
    name, version = reference.name, reference.selector
    found = eviction.settled(workspace.folders, name, version, workspace.listener)
    hint = f"stager pull {reference}"
    if found is None:
        raise CacheError(path=str(reference), reason="is not staged on this node", hint=hint)
    if not found.is_intact():
        reason = "was changed on this node since it was verified"
        raise CacheError(path=str(reference), reason=reason, hint=hint)
    return found.folder
