"""borrow: text files of a version that is not staged, for as long as they are read.

The first frame of every file is fetched first. A file that begins like an image or an
archive is left at that, so comparing two versions of such files moves little.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from stager.cache.frame_files import IN_WORK, FrameFiles, create
from stager.model.placement import Placement
from stager.ops.fetch import fetch, not_right
from stager.ops.reserve import reserved_bytes
from stager.workspace import Workspace

SAMPLE = 64 * 1024


def borrow(
    workspace: Workspace, placement: Placement, wanted: Iterable[int], folder: Path
) -> set[int]:
    """Puts those of the wanted files that are text into `folder`, verified; their indexes.

    DiskFull when the cache's disk cannot hold them.
    """
    chosen = set(wanted)
    files = FrameFiles(str(folder), placement, leave=_AllBut(chosen))
    for at in chosen:
        os.makedirs(os.path.dirname(files.location(at)), exist_ok=True)
        if not placement.files[at].size:
            os.close(create(files.location(at), IN_WORK))
    heads = heads_of(placement, chosen)
    _fetch(workspace, files, heads)
    text = {at for at in chosen if not _is_binary(files, at)}
    rest = {frame for at in text for frame in files.frames_of(at)} - heads
    _fetch(workspace, files, rest)
    wrong = [at for at in sorted(text) if placement.files[at].size and not files.is_right(at)]
    if wrong:
        raise not_right(placement, wrong)
    return text


def heads_of(placement: Placement, wanted: Iterable[int]) -> set[int]:
    """The frames with the first bytes of these files."""
    first = placement.first_slice
    return {placement.slice_frame[first[at]] for at in wanted if placement.files[at].size}


def holds_nul(location: str, length: int = SAMPLE) -> bool:
    """Whether a NUL byte, as in no text, is among the first bytes of a file."""
    with open(location, "rb") as file:
        return b"\0" in file.read(length)


class _AllBut:
    """Every index but some."""

    def __init__(self, chosen: set[int]) -> None:
        self._chosen = chosen

    def __contains__(self, at: object) -> bool:
        return at not in self._chosen


def _fetch(workspace: Workspace, files: FrameFiles, frames: set[int]) -> None:
    needed = sum(files.bytes_used(frame) for frame in frames)
    with reserved_bytes(workspace, Path(files.folder), needed):
        fetch(workspace, files.placement, sorted(frames), files.write)


def _is_binary(files: FrameFiles, at: int) -> bool:
    """From the first slice alone: what comes after it may not be there yet."""
    placement = files.placement
    if not placement.files[at].size:
        return False
    first = placement.slice_length[placement.first_slice[at]]
    return holds_nul(files.location(at), min(first, SAMPLE))
