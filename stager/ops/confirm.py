"""confirm: what a version adopted by size and ETag really held, once somebody has read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from blake3 import blake3

from stager.cache.frame_files import FrameFiles
from stager.catalog import landed, placements, remote, versions
from stager.errors import StorageError
from stager.events import Warned
from stager.model.digest import Digest
from stager.model.placement import RAW, TRUSTED, Placement
from stager.model.tree import FileEntry
from stager.model.version import VersionRecord
from stager.storage.store import Data
from stager.workspace import Workspace


def confirm(
    workspace: Workspace,
    record: VersionRecord,
    files: FrameFiles,
    observed: Mapping[int, bytes],
) -> tuple[VersionRecord, Data]:
    """The record with content digests, and its placement as stored.

    Both are left in the remote, so the next node verifies instead of trusting. Where this
    node may not write there, the digests stay in its receipt and the user is told.
    """
    placement = _proved(files, observed)
    stored, key = placements.pack(placement)
    confirmed = replace(record, tree=str(placement.tree().digest()), placement=key)
    try:
        store = remote.open_for_writing(workspace.remote, workspace.listener)
        landed.put(store, key.key, stored)
        versions.confirm(store, confirmed)
    except StorageError as problem:
        reference = f"{record.name}@{record.version}"
        workspace.listener(Warned(f"digests of {reference} stay here: {problem}"))
    return confirmed, stored


def _proved(files: FrameFiles, observed: Mapping[int, bytes]) -> Placement:
    placement = files.placement
    frames = tuple(
        frame._replace(codec=RAW, digest=observed[at]) if frame.codec == TRUSTED else frame
        for at, frame in enumerate(placement.frames)
    )
    entries = tuple(
        FileEntry(entry.path, entry.size, _file_digest(files, at))
        for at, entry in enumerate(placement.files)
    )
    return replace(placement, frames=frames, files=entries)


def _file_digest(files: FrameFiles, file: int) -> Digest:
    """From the bytes on this disk, which are those that were received."""
    if files.placement.files[file].size == 0:
        return Digest(blake3(b"").digest())
    hasher = blake3()
    hasher.update_mmap(files.location(file))
    return Digest(hasher.digest())
