"""reuse: what of a version is on this node already, in versions staged before.

Whole files are reflinked, hard-linked or copied, while their stat signature still holds.
Frames are read back from the files they went into and believed only when their digest is
right, so an edited file costs a fetch and never spreads.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from stager.cache import staged as staged_versions
from stager.cache.folders import Folders
from stager.cache.frame_files import FrameFiles
from stager.cache.placing import transfer_file
from stager.cache.staged import Staged
from stager.catalog import placements
from stager.errors import StagerError
from stager.model.digest import Digest
from stager.model.placement import TRUSTED, Placement
from stager.model.version import VersionRecord
from stager.transfer.options import PROCESSORS
from stager.transfer.workers import for_each

NEWEST_VERSIONS = 8  # of the same dataset, looked through for frames


@dataclass(slots=True)
class Reuse:
    """File index -> where the same file lies; frame index -> files that hold it."""

    files: dict[int, str] = field(default_factory=dict)
    frames: dict[int, tuple[FrameFiles, int]] = field(default_factory=dict)


def find(folders: Folders, record: VersionRecord, placement: Placement) -> Reuse:
    """Looks through the versions staged here, those of the same dataset first."""
    itself = f"{record.name}@{record.version}"  # damaged, or it would not be staged again
    here = [found for found in staged_versions.everything(folders) if found.reference != itself]
    here.sort(key=lambda found: (found.receipt.name != record.name, _age(found)))
    reuse = Reuse()
    if not here:
        return reuse
    files: dict[Digest, list[int]] = {}
    for at, entry in enumerate(placement.files):
        if entry.size and entry.digest.is_proof:
            files.setdefault(entry.digest, []).append(at)
    frames = {
        frame.digest: at for at, frame in enumerate(placement.frames) if frame.codec != TRUSTED
    }
    for number, found in enumerate(here):
        related = found.receipt.name == record.name and number < NEWEST_VERSIONS
        if files or (related and frames):
            _look_through(folders, found, files, frames if related else {}, reuse)
    return reuse


def link_files(files: FrameFiles, reuse: Reuse) -> None:
    """Puts the whole files that were found into their places."""
    for at, source in reuse.files.items():
        target = files.location(at)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(target)
        transfer_file(source, target)


def copy_frames(files: FrameFiles, reuse: Reuse, wanted: Iterable[int]) -> set[int]:
    """Writes wanted frames from staged files, each one checked; those that were right."""
    copied: set[int] = set()
    guard = threading.Lock()

    def copy(frame: int) -> None:
        source, there = reuse.frames[frame]
        raw = source.sound(there)
        if raw is not None:
            files.write(frame, raw)
            with guard:
                copied.add(frame)

    for_each([frame for frame in wanted if frame in reuse.frames], copy, PROCESSORS)
    return copied


def _age(found: Staged) -> float:
    """Newest first."""
    with contextlib.suppress(OSError):
        return -os.stat(found.folder).st_mtime
    return 0.0


def _look_through(
    folders: Folders,
    found: Staged,
    files: dict[Digest, list[int]],
    frames: dict[bytes, int],
    reuse: Reuse,
) -> None:
    receipt = found.receipt
    try:
        path = folders.placement(receipt.name, receipt.version)
        placement = placements.unpack(path.read_bytes(), receipt.placement)
    except (OSError, StagerError):
        return
    for entry in placement.files:
        if entry.digest in files:
            location = f"{found.folder}/{entry.path}"
            with contextlib.suppress(OSError):
                facts = os.lstat(location)
                if receipt.signature.covers(facts.st_size, facts.st_mtime_ns, entry.size):
                    for at in files.pop(entry.digest):
                        reuse.files[at] = location
    shared = [at for at, frame in enumerate(placement.frames) if frame.digest in frames]
    if shared:
        source = FrameFiles(str(found.folder), placement)
        for at in shared:
            if source.is_whole(at):
                reuse.frames[frames.pop(placement.frames[at].digest)] = (source, at)
