"""stage: one version from the remote into the cache, complete and verified, or not at all.

A frame that is fetched is checked by its own digest before it is written. A file made of
spans of staged files, or of parts of frames, is read back once and checked by its own.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import NamedTuple

from stager.cache import journal, staging
from stager.cache import staged as staged_versions
from stager.cache.folders import Folders
from stager.cache.frame_files import FrameFiles
from stager.cache.locks import exclusive
from stager.cache.staged import Staged
from stager.catalog import placements
from stager.errors import IntegrityError
from stager.events import Noted
from stager.model.placement import Placement
from stager.model.receipt import Receipt
from stager.model.version import VersionRecord
from stager.ops.confirm import confirm
from stager.ops.fetch import fetch, not_right
from stager.ops.reserve import reserved
from stager.ops.reuse import Reuse, copy_spans, find, link_files
from stager.packs.codec import Bytes
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
    wanted: list[int]  # frames to fetch for a first run: in no file and no span that is here

    @property
    def bytes_reused(self) -> int:
        """Raw bytes that do not cross the network."""
        files = sum(self.placement.files[at].size for at in self.reuse.files)
        return files + sum(span.length for span in self.reuse.spans)

    @property
    def bytes_to_fetch(self) -> int:
        """Stored bytes of the frames that must come from the remote."""
        return sum(self.placement.frames[at].stored for at in self.wanted)


def plan(workspace: Workspace, record: VersionRecord) -> StagePlan:
    """Reads the placement and looks what is on this node already."""
    placement, stored = placements.read(workspace.remote, record.placement)
    if str(placement.tree().digest()) != record.tree:
        raise IntegrityError(where=record.placement.key, reason="is the placement of another tree")
    reuse = find(workspace.folders, record, placement)
    wanted = set(placement.slice_frame)
    if reuse.files:
        missing = (at for at in range(len(placement.files)) if at not in reuse.files)
        wanted = {piece.frame for at in missing for piece in placement.slices_of(at)}
    return StagePlan(record, placement, stored, reuse, sorted(wanted - reuse.frames))


def execute(workspace: Workspace, planned: StagePlan) -> Staged:
    """Reserves the disk, fills the staging folder, verifies, publishes."""
    record, folders = planned.record, workspace.folders
    folder = folders.staging(record.tree)
    _withdraw(folders, record, folder)
    files = FrameFiles(str(folder), planned.placement, leave=planned.reuse.files)
    resumes = staging.begin(folder, planned.placement)
    wanted = _missing(files, planned, folder) if resumes else planned.wanted
    with reserved(workspace, planned, folder, resumes):
        observed = _Filling(workspace, planned, folder).fill(files, wanted)
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


def _missing(files: FrameFiles, planned: StagePlan, folder: Path) -> list[int]:
    """Frames to fetch: those that an earlier run has not left here, verified."""
    sound: set[int] = set()
    noted = journal.notes(folder)
    guard = threading.Lock()

    def look(frame: int) -> None:
        if files.is_whole(frame):
            good = files.is_sound(frame)
        else:
            good = frame in noted and files.used_digest(frame) == noted[frame]
        if good:
            with guard:
                sound.add(frame)

    for_each(planned.wanted, look, PROCESSORS)
    rewritten = staging.detach(files, (set(planned.wanted) - sound) | planned.reuse.frames)
    return sorted(rewritten - planned.reuse.frames)


class _Filling:
    """Puts everything into the staging folder: links, copies, fetches, and reads back."""

    def __init__(self, workspace: Workspace, planned: StagePlan, folder: Path) -> None:
        self._workspace = workspace
        self._planned = planned
        self._folder = folder

    def fill(self, files: FrameFiles, wanted: list[int]) -> dict[int, bytes]:
        """Complete and right, or an error; digests of frames that had none."""
        reuse, placement = self._planned.reuse, self._planned.placement
        lost = link_files(files, reuse)
        if lost:
            files = FrameFiles(files.folder, placement, leave=set(reuse.files) - lost)
            wanted = sorted({*wanted, *(frame for at in lost for frame in files.frames_of(at))})
        copy_spans(files, reuse)
        observed = self._fetch(files, wanted)
        wrong = self._wrong(files, self._unproven(files))
        if wrong:
            names = ", ".join(placement.files[at].path for at in wrong[:5])
            self._workspace.listener(Noted(f"{names}: not right when put together; fetching again"))
            again = staging.detach(files, {each for at in wrong for each in files.frames_of(at)})
            observed |= self._fetch(files, sorted(again))
            if wrong := self._wrong(files, wrong):
                raise not_right(placement, wrong)
        return observed

    def _fetch(self, files: FrameFiles, wanted: list[int]) -> dict[int, bytes]:
        def write(frame: int, raw: Bytes) -> None:
            files.write(frame, raw)
            if not files.is_whole(frame):
                digest = files.used_digest(frame, raw)
                assert digest is not None
                journal.note(self._folder, frame, digest)

        return fetch(self._workspace, self._planned.placement, wanted, write)

    def _unproven(self, files: FrameFiles) -> list[int]:
        """Files with bytes that no digest of a frame stands for."""
        placement = self._planned.placement
        if self._planned.record.is_matched_by_index:
            own = (at for at in range(len(placement.files)) if at not in self._planned.reuse.files)
            return [at for at in own if placement.files[at].size]
        found = {span.file for span in self._planned.reuse.spans}
        for frame in set(placement.slice_frame):
            if not files.is_whole(frame):
                found |= {use.file for use in files.uses(frame)}
        return sorted(found)

    def _wrong(self, files: FrameFiles, suspects: list[int]) -> list[int]:
        wrong: list[int] = []

        def look(file: int) -> None:
            if not files.is_right(file):
                wrong.append(file)

        with self._workspace.meter.spent_on("cpu"):
            for_each(suspects, look, PROCESSORS)
        return sorted(wrong)
