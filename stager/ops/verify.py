"""verify: every byte of a version against its digests, here or in the remote."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from blake3 import blake3

from stager.cache import staged as staged_versions
from stager.cache.staged import Staged
from stager.catalog import placements, versions
from stager.errors import CacheError, DigestMismatch, VersionNotFound
from stager.events import Advanced, Began
from stager.model.names import Reference
from stager.model.placement import TRUSTED, Placement
from stager.ops import stage
from stager.ops.fetch import fetch
from stager.packs.codec import Bytes
from stager.transfer.options import PROCESSORS
from stager.transfer.workers import for_each
from stager.workspace import Workspace


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Files or packs looked at, what is wrong with which, and whether it was mended."""

    reference: str
    where: str  # the folder, or the remote's URL
    checked: int
    bytes_read: int
    damaged: Mapping[str, str] = field(default_factory=dict)  # path or pack -> what is wrong
    repaired: bool = False
    bytes_transferred: int = 0

    @property
    def is_sound(self) -> bool:
        """Whether the version can be used now."""
        return not self.damaged or self.repaired


def verify(workspace: Workspace, reference: Reference, repair: bool = False) -> VerifyReport:
    """Hashes every staged file; with `repair` fetches the frames that are wrong."""
    if repair:
        _resume(workspace, reference)
    found = _staged(workspace, reference)
    path = workspace.folders.placement(found.receipt.name, found.receipt.version)
    placement = placements.unpack(path.read_bytes(), found.receipt.placement)
    damaged = _damaged_files(workspace, found, placement)
    repaired = False
    if damaged and repair:
        _repair(workspace, found)
        repaired = not _damaged_files(workspace, _staged(workspace, reference), placement)
    return VerifyReport(
        reference=found.reference,
        where=str(found.folder),
        checked=len(placement.files),
        bytes_read=placement.bytes_raw,
        damaged=damaged,
        repaired=repaired,
        bytes_transferred=workspace.meter.received,
    )


def verify_remote(workspace: Workspace, reference: Reference) -> VerifyReport:
    """Reads every frame of the version from its packs; nothing is written."""
    record = versions.resolve(workspace.remote, reference)
    placement, _ = placements.read(workspace.remote, record.placement)
    damaged: dict[str, str] = {}
    pending = set(range(len(placement.frames)))
    guard = threading.Lock()

    def seen(frame: int, _: Bytes) -> None:
        with guard:
            pending.discard(frame)

    while pending:
        try:
            fetch(workspace, placement, sorted(pending), seen)
            break
        except DigestMismatch as problem:
            key, offset = str(problem.fields["key"]), problem.fields["offset"]
            damaged[f"{key} at byte {offset}"] = str(problem)
            pending -= _frames_at(placement, key, offset)
    return VerifyReport(
        reference=f"{record.name}@{record.version}",
        where=workspace.remote_url,
        checked=len(placement.packs),
        bytes_read=workspace.meter.received,
        damaged=damaged,
        bytes_transferred=workspace.meter.received,
    )


def _staged(workspace: Workspace, reference: Reference) -> Staged:
    label = reference.selector
    if reference.is_latest or label is None:
        label = versions.resolve(workspace.remote, reference).version
    found = staged_versions.find(workspace.folders, reference.name, label)
    if found is None:
        hint = f"stager pull {reference}"
        raise CacheError(path=str(reference), reason="is not staged on this node", hint=hint)
    return found


def _damaged_files(workspace: Workspace, found: Staged, placement: Placement) -> dict[str, str]:
    damaged: dict[str, str] = {}
    workspace.listener(Began("verify", placement.bytes_raw))

    def look(at: int) -> None:
        entry = placement.files[at]
        location = f"{found.folder}/{entry.path}"
        if wrong := _wrong(location, entry.size, entry.digest.raw):
            damaged[entry.path] = wrong
        workspace.listener(Advanced(entry.size))

    for_each(range(len(placement.files)), look, PROCESSORS)
    return dict(sorted(damaged.items()))


def _wrong(location: str, size: int, digest: bytes) -> str:
    try:
        facts = os.lstat(location)
    except OSError:
        return "missing"
    if facts.st_size != size:
        return f"{facts.st_size} bytes instead of {size}"
    hasher = blake3()
    if size:
        hasher.update_mmap(location)
    return "" if hasher.digest() == digest else f"content is {hasher.hexdigest()}"


def _resume(workspace: Workspace, reference: Reference) -> None:
    """Completes a repair that was killed: the version was taken down for it."""
    label = reference.selector
    if reference.is_latest or label is None:
        return
    if staged_versions.find(workspace.folders, reference.name, label) is not None:
        return
    with contextlib.suppress(VersionNotFound):
        record = versions.resolve(workspace.remote, reference)
        if workspace.folders.staging(record.tree).is_dir():
            with stage.lock(workspace, record):
                stage.execute(workspace, stage.plan(workspace, record))


def _repair(workspace: Workspace, found: Staged) -> None:
    """Through the same door as an interrupted pull: only what is wrong is fetched."""
    reference = Reference(found.receipt.name, found.receipt.version)
    record = versions.resolve(workspace.remote, reference)
    with stage.lock(workspace, record):
        stage.execute(workspace, stage.plan(workspace, record))


def _frames_at(placement: Placement, key: str, offset: object) -> set[int]:
    return {
        at
        for at, frame in enumerate(placement.frames)
        if placement.packs[frame.pack].key == key
        and (frame.offset == offset or frame.codec == TRUSTED)
    }
