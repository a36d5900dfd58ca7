"""stage: one version from the remote into the cache, complete and verified, or not at all."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import NamedTuple

from stager.cache import staged as staged_versions
from stager.cache import staging
from stager.cache.folders import Folders
from stager.cache.frame_files import FrameFiles
from stager.cache.locks import exclusive
from stager.cache.staged import Staged
from stager.catalog import placements
from stager.errors import CacheError
from stager.model.placement import Placement
from stager.model.receipt import Receipt
from stager.model.version import VersionRecord
from stager.ops.confirm import confirm
from stager.ops.fetch import fetch
from stager.ops.reserve import reserved
from stager.ops.reuse import Reuse, copy_frames, find, link_files
from stager.storage.store import Data
from stager.transfer.options import PROCESSORS
from stager.transfer.workers import for_each
from stager.workspace import Workspace, utc_now


class StagePlan(NamedTuple):
    """What a pull would do: what is taken from staged versions, what is fetched."""

    record: VersionRecord
    placement: Placement
    stored_placement: Data
    reuse: Reuse
    wanted: list[int]  # frames of files that are not here whole

    @property
    def bytes_reused(self) -> int:
        """Raw bytes that do not cross the network."""
        frames = (self.placement.frames[at].raw for at in self.wanted if at in self.reuse.frames)
        return sum(self.placement.files[at].size for at in self.reuse.files) + sum(frames)

    @property
    def bytes_to_fetch(self) -> int:
        """Stored bytes of the frames that must come from the remote."""
        missing = (at for at in self.wanted if at not in self.reuse.frames)
        return sum(self.placement.frames[at].stored for at in missing)


def plan(workspace: Workspace, record: VersionRecord) -> StagePlan:
    """Reads the placement and looks what is on this node already."""
    placement, stored = placements.read(workspace.remote, record.placement)
    if str(placement.tree().digest()) != record.tree:
        raise CacheError(path=record.placement.key, reason="is the placement of another tree")
    reuse = find(workspace.folders, record, placement)
    wanted = set(placement.slice_frame)
    if reuse.files:
        missing = (at for at in range(len(placement.files)) if at not in reuse.files)
        wanted = {piece.frame for at in missing for piece in placement.slices_of(at)}
    return StagePlan(record, placement, stored, reuse, sorted(wanted))


def execute(workspace: Workspace, planned: StagePlan) -> Staged:
    """Reserves the disk, fills the staging folder, verifies, publishes."""
    record, folders = planned.record, workspace.folders
    folder = folders.staging(record.tree)
    _withdraw(folders, record, folder)
    files = FrameFiles(str(folder), planned.placement, leave=planned.reuse.files)
    resumes = staging.begin(folder, planned.placement)
    wanted = _missing(files, planned, resumes)
    with reserved(workspace, planned, folder, resumes):
        link_files(files, planned.reuse)
        copied = copy_frames(files, planned.reuse, wanted)
        missing = [at for at in wanted if at not in copied]
        observed = fetch(workspace, planned.placement, missing, files.write)
        signature = staging.complete(files)
        stored = planned.stored_placement
        if not record.is_hashed:
            record, stored = confirm(workspace, record, files, observed)
        receipt = Receipt(
            name=record.name,
            version=record.version,
            tree=record.tree,
            placement=record.placement.key,
            files=signature.files,
            bytes_raw=signature.bytes,
            remote=workspace.remote_url,
            staged_at=utc_now(),
            signature=signature,
        )
        staging.publish(folders, folder, receipt, bytes(stored))
    found = staged_versions.find(folders, record.name, record.version)
    assert found is not None
    return found


def lock(workspace: Workspace, record: VersionRecord) -> contextlib.AbstractContextManager[None]:
    """Held while a tree is staged: one download, whoever else asks for it waits."""
    name = record.tree.replace(":", "-")
    return exclusive(workspace.folders.lock(name), workspace.listener)


def _withdraw(folders: Folders, record: VersionRecord, folder: Path) -> None:
    """A version folder that is here but not to be believed becomes work in progress again."""
    shown = folders.version(record.name, record.version)
    if not shown.exists():
        return
    folders.receipt(record.name, record.version).unlink(missing_ok=True)
    if folder.exists():
        staging.discard(shown)
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    os.rename(shown, folder)


def _missing(files: FrameFiles, planned: StagePlan, resumes: bool) -> list[int]:
    """Frames to fetch: the wanted ones that an earlier run has not left here, verified."""
    if not resumes:
        return planned.wanted
    sound: set[int] = set()
    guard = threading.Lock()

    def look(frame: int) -> None:
        if files.is_sound(frame):
            with guard:
                sound.add(frame)

    for_each(planned.wanted, look, PROCESSORS)
    return sorted(staging.detach(files, set(planned.wanted) - sound))
