"""fetch: frames from their packs, every one checked before anybody gets it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable

from blake3 import blake3

from stager.errors import (
    DigestMismatch,
    IntegrityError,
    ObjectNotFound,
    PreconditionFailed,
    SourceChanged,
    StorageError,
)
from stager.events import Advanced, Began, Noted
from stager.model.placement import TRUSTED, Pack, Placement
from stager.packs.codec import Bytes, decode
from stager.transfer.ranges import Range, ranges
from stager.transfer.workers import for_each
from stager.workspace import Workspace

Sink = Callable[[int, Bytes], None]


def fetch(
    workspace: Workspace, placement: Placement, wanted: Iterable[int], sink: Sink
) -> dict[int, bytes]:
    """Reads frames on many connections and gives each, decoded and checked, to `sink`.

    Returns the blake3 of frames whose digest was unknown. SourceChanged names every adopted
    object that is no longer what was recorded.
    """
    job = _Job(workspace, placement, sink)
    connections = workspace.config.transfer.connections
    parts = ranges(placement, wanted, connections)
    workspace.listener(Began("pull", sum(part.end - part.start for part in parts)))
    try:
        for_each(parts, job.run, min(connections, max(1, len(parts))))
    except (PreconditionFailed, ObjectNotFound) as problem:
        raise _changed(workspace, placement, problem) from problem
    return job.observed


class _Job:
    def __init__(self, workspace: Workspace, placement: Placement, sink: Sink) -> None:
        self.workspace = workspace
        self.placement = placement
        self.sink = sink
        self.observed: dict[int, bytes] = {}
        self._lock = threading.Lock()

    def run(self, part: Range) -> None:
        """One range: get it, then decode, check and hand over its frames."""
        pack = self.placement.packs[part.pack]
        data = self._get(pack, part.start, part.end)
        for at in part.frames:
            frame = self.placement.frames[at]
            offset = frame.offset - part.start
            raw = self._checked(at, pack, data[offset : offset + frame.stored])
            with self.workspace.meter.spent_on("disk"):
                self.sink(at, raw)
        self.workspace.listener(Advanced(part.end - part.start))

    def _get(self, pack: Pack, start: int, end: int) -> memoryview:
        store, key = self.workspace.locate(pack.key)
        return memoryview(store.get(key, start, end, pack.etag))

    def _checked(self, at: int, pack: Pack, stored: memoryview) -> Bytes:
        frame = self.placement.frames[at]
        with self.workspace.meter.spent_on("cpu"):
            try:
                raw = decode(stored, frame, pack.key)
            except DigestMismatch as problem:
                self.workspace.listener(Noted(f"{problem}; fetching it again"))
                again = self._get(pack, frame.offset, frame.offset + frame.stored)
                raw = decode(again, frame, pack.key)
            if frame.codec == TRUSTED:
                digest = blake3(raw).digest()
                with self._lock:
                    self.observed[at] = digest
        return raw


def not_right(placement: Placement, files: Iterable[int]) -> IntegrityError:
    """The error for files that were put together from checked frames and have other digests."""
    names = ", ".join(placement.files[at].path for at in files)
    return IntegrityError(where=names, reason="its frames do not make its digest")


def _changed(
    workspace: Workspace, placement: Placement, problem: StorageError
) -> SourceChanged | StorageError:
    """Looks at every adopted object, so that all that changed are named at once."""
    adopted = [pack for pack in placement.packs if pack.etag]
    changed: list[str] = []

    def look(pack: Pack) -> None:
        store, key = workspace.locate(pack.key)
        with contextlib.suppress(ObjectNotFound):
            if store.head(key).etag == pack.etag:
                return
        changed.append(pack.key)

    for_each(adopted, look, workspace.config.transfer.connections)
    if not changed:
        return problem
    hint = "adopt the prefix again to record it as a new version"
    return SourceChanged(names=", ".join(sorted(changed)), hint=hint)
