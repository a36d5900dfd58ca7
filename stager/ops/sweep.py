"""sweep: deletes objects that are still what they were when somebody decided to.

No store that stager speaks to deletes under a condition, so each object is looked at right
before. A look is acted upon for WINDOW_SECONDS and no longer, and a delete whose answer was lost
is not simply sent again: an object may have been written since, by a push that waits for
exactly this (catalog/renewal.py).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace

from stager.catalog.renewal import WINDOW_SECONDS
from stager.errors import ObjectNotFound, StorageError
from stager.events import Advanced, Noted
from stager.storage.resilient import FIRST_DELAY
from stager.storage.store import ObjectInfo, ObjectStore
from stager.transfer.workers import for_each
from stager.workspace import Workspace

BATCH = 100


def sweep(workspace: Workspace, doomed: Sequence[ObjectInfo]) -> list[ObjectInfo]:
    """Deletes what has not changed since it was listed; what was deleted."""
    config = workspace.config
    once = replace(config, storage=replace(config.storage, attempts=1))
    store = Workspace(once, workspace.listener, workspace.meter).remote
    freed: list[ObjectInfo] = []
    for start in range(0, len(doomed), BATCH):
        batch = doomed[start : start + BATCH]
        freed += _swept(workspace, store, batch)
        workspace.listener(Advanced(len(batch)))
    return freed


def _swept(
    workspace: Workspace, store: ObjectStore, batch: Sequence[ObjectInfo]
) -> list[ObjectInfo]:
    """One batch; halved when looking at all of it takes too long."""
    for attempt in range(1, workspace.config.storage.attempts + 1):
        began = time.monotonic()
        same = _unchanged(workspace, batch)
        if time.monotonic() - began > WINDOW_SECONDS:
            break
        try:
            store.delete([info.key for info in same])
        except StorageError as problem:
            if not problem.transient or attempt == workspace.config.storage.attempts:
                raise
            time.sleep(FIRST_DELAY * 2**attempt)
        else:
            return same
    if len(batch) == 1:
        workspace.listener(Noted(f"{batch[0].key} is kept: the store answers too slowly"))
        return []
    half = len(batch) // 2
    return _swept(workspace, store, batch[:half]) + _swept(workspace, store, batch[half:])


def _unchanged(workspace: Workspace, batch: Sequence[ObjectInfo]) -> list[ObjectInfo]:
    same: list[ObjectInfo] = []

    def look(info: ObjectInfo) -> None:
        with contextlib.suppress(ObjectNotFound):
            if _facts(workspace.remote.head(info.key)) == _facts(info):
                same.append(info)

    for_each(batch, look, min(len(batch), workspace.config.transfer.connections))
    return same


def _facts(info: ObjectInfo) -> tuple[int, str, int]:
    """A listing may give fractions of a second where a look at one object gives none."""
    return info.size, info.etag, int(info.modified)
