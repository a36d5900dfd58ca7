"""stage: one version from the remote into the cache, complete and verified, or not at all."""

from __future__ import annotations

import contextlib
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from stager.cache import staged as staged_versions
from stager.cache import staging
from stager.cache.folders import Folders
from stager.cache.frame_files import FrameFiles
from stager.cache.locks import exclusive
from stager.cache.placing import transfer_file
from stager.cache.space import reserved
from stager.cache.staged import Staged
from stager.catalog import placements
from stager.errors import CacheError, StagerError
from stager.model.digest import Digest
from stager.model.placement import Placement
from stager.model.receipt import Receipt
from stager.model.version import VersionRecord
from stager.ops.confirm import confirm
from stager.ops.fetch import fetch
from stager.storage.store import Data
from stager.transfer.workers import for_each
from stager.workspace import Workspace, cpu_count, utc_now


@dataclass(frozen=True, slots=True)
class StagePlan:
    """What a pull would do: files taken from staged versions, frames still to fetch."""

    record: VersionRecord
    placement: Placement
    stored_placement: Data
    reused: dict[int, str]  # file index -> where its bytes are on this node
    wanted: list[int]  # frames, if nothing of an interrupted run is left
    resumes: bool

    @property
    def bytes_reused(self) -> int:
        """Raw bytes that do not cross the network."""
        return sum(self.placement.files[at].size for at in self.reused)

    @property
    def bytes_to_fetch(self) -> int:
        """Stored bytes of the wanted frames."""
        return sum(self.placement.frames[at].stored for at in self.wanted)


def plan(workspace: Workspace, record: VersionRecord) -> StagePlan:
    """Reads the placement and looks what is on this node already."""
    placement, stored = placements.read(workspace.remote, record.placement)
    if str(placement.tree().digest()) != record.tree:
        raise CacheError(path=record.placement.key, reason="is the placement of another tree")
    reused = _reusable(workspace.folders, record, placement)
    wanted = {
        piece.frame
        for at in range(len(placement.files))
        if at not in reused
        for piece in placement.slices_of(at)
    }
    resumes = workspace.folders.staging(record.tree).is_dir()
    return StagePlan(record, placement, stored, reused, sorted(wanted), resumes)


def execute(workspace: Workspace, planned: StagePlan) -> Staged:
    """Reserves the disk, fills the staging folder, verifies, publishes."""
    record, folders = planned.record, workspace.folders
    folder = folders.staging(record.tree)
    _withdraw(folders, record, folder)
    files = FrameFiles(str(folder), planned.placement, leave=planned.reused)
    resumes = staging.begin(folder, planned.placement)
    wanted = _missing(files, planned, resumes)
    needed = sum(planned.placement.frames[at].raw for at in wanted)
    with reserved(workspace.config.cache, needed, workspace.listener):
        _reuse(files, planned)
        observed = fetch(workspace, files, wanted)
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

    for_each(planned.wanted, look, cpu_count())
    missing = set(planned.wanted) - sound
    missing |= staging.detach(files, missing)
    return sorted(missing)


def _reuse(files: FrameFiles, planned: StagePlan) -> None:
    for at, source in planned.reused.items():
        target = files.location(at)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(target)
        transfer_file(source, target)


def _reusable(folders: Folders, record: VersionRecord, placement: Placement) -> dict[int, str]:
    """Files of this version that stand, unedited, in a version staged here."""
    itself = f"{record.name}@{record.version}"  # damaged, or it would not be staged again
    here = [staged for staged in staged_versions.everything(folders) if staged.reference != itself]
    here.sort(key=lambda staged: staged.receipt.name != record.name)
    wanted: dict[Digest, list[int]] = {}
    for at, entry in enumerate(placement.files):
        if entry.size and entry.digest.is_proof:
            wanted.setdefault(entry.digest, []).append(at)
    found: dict[int, str] = {}
    for staged in here:
        if wanted:
            _take(folders, staged, wanted, found)
    return found


def _take(
    folders: Folders, staged: Staged, wanted: dict[Digest, list[int]], found: dict[int, str]
) -> None:
    receipt = staged.receipt
    try:
        path = folders.placement(receipt.name, receipt.version)
        placement = placements.unpack(path.read_bytes(), receipt.placement)
    except (OSError, StagerError):
        return
    for entry in placement.files:
        if entry.digest not in wanted:
            continue
        location = f"{staged.folder}/{entry.path}"
        with contextlib.suppress(OSError):
            facts = os.lstat(location)
            if receipt.signature.covers(facts.st_size, facts.st_mtime_ns, entry.size):
                for at in wanted.pop(entry.digest):
                    found[at] = location
