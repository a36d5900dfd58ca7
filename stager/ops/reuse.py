"""reuse: what of a version is on this node already, in versions staged before.

Whole files are reflinked, hard-linked or copied. Of other files, spans of frames that a
staged version shares are copied from its files. A source is taken only while its stat
signature holds, and a file made of spans is believed only when its own digest is right
(ops/stage.py), so an edited file costs a fetch and never spreads.
"""

from __future__ import annotations

import contextlib
import os
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from stager.cache import span_copies
from stager.cache import staged as staged_versions
from stager.cache.folders import Folders
from stager.cache.frame_files import FrameFiles, Use
from stager.cache.placing import transfer_file
from stager.cache.span_copies import Span
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
    """File index -> where the same file lies; spans to copy, and the frames they stand for."""

    files: dict[int, str] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    frames: set[int] = field(default_factory=set)


def find(folders: Folders, record: VersionRecord, placement: Placement) -> Reuse:
    """Looks through the versions staged here, those of the same dataset first."""
    itself = f"{record.name}@{record.version}"  # damaged, or it would not be staged again
    here = [found for found in staged_versions.everything(folders) if found.reference != itself]
    here.sort(key=lambda found: (found.receipt.name != record.name, _age(found)))
    reuse = Reuse()
    wanted: dict[Digest, list[int]] = {}
    for at, entry in enumerate(placement.files):
        if entry.size and entry.digest.is_proof:
            wanted.setdefault(entry.digest, []).append(at)
    related: list[_Source] = []
    for number, found in enumerate(here):
        keep = found.receipt.name == record.name and number < NEWEST_VERSIONS
        if (wanted or keep) and (there := _read(folders, found)) is not None:
            source = _Source(found, there)
            source.give_files(wanted, reuse)
            related += [source] * keep
    if related and len(reuse.files) < len(placement.files):
        _find_spans(placement, related, reuse)
    return reuse


def link_files(files: FrameFiles, reuse: Reuse) -> set[int]:
    """Puts the whole files that were found into their places; those whose source is gone."""
    lost: set[int] = set()
    for at, source in reuse.files.items():
        target = files.location(at)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(target)
        try:
            transfer_file(source, target)
        except FileNotFoundError:
            lost.add(at)
    return lost


def copy_spans(files: FrameFiles, reuse: Reuse) -> None:
    """Copies the spans that were found; nothing is known of the result."""

    def copy(batch: list[Span]) -> None:
        span_copies.copy(batch, files.location(batch[0].file))

    for_each(span_copies.batches(reuse.spans), copy, PROCESSORS)


def _age(found: Staged) -> float:
    """Newest first."""
    with contextlib.suppress(OSError):
        return -os.stat(found.folder).st_mtime
    return 0.0


def _read(folders: Folders, found: Staged) -> Placement | None:
    receipt = found.receipt
    with contextlib.suppress(OSError, StagerError):
        path = folders.placement(receipt.name, receipt.version)
        return placements.unpack(path.read_bytes(), receipt.placement)
    return None


def _find_spans(placement: Placement, sources: list[_Source], reuse: Reuse) -> None:
    """A frame is taken from here when one source holds everything the version uses of it."""
    files = FrameFiles("", placement, leave=reuse.files)
    for source in sources:
        source.look_up_frames()
        for at, frame in enumerate(placement.frames):
            there = source.frames.get(frame.digest)
            if there is None or at in reuse.frames or frame.codec == TRUSTED:
                continue
            spans = source.spans(there, files.uses(at))
            if spans:
                reuse.spans += spans
                reuse.frames.add(at)
    reuse.spans = span_copies.merged(reuse.spans)


class _Source:
    """A staged version that may lend files and spans."""

    def __init__(self, found: Staged, placement: Placement) -> None:
        self._found = found
        self._placement = placement
        self._unchanged: dict[int, bool] = {}
        self._files: FrameFiles | None = None
        self.frames: dict[bytes, int] = {}

    def give_files(self, wanted: dict[Digest, list[int]], reuse: Reuse) -> None:
        """Whole files by their digest; takes those given out of `wanted`."""
        for at, entry in enumerate(self._placement.files):
            if entry.digest in wanted and self._is_unchanged(at):
                for target in wanted.pop(entry.digest):
                    reuse.files[target] = self._location(at)

    def look_up_frames(self) -> None:
        """Reads the placement's frames; call before `frames` and `spans`."""
        self._files = FrameFiles(str(self._found.folder), self._placement)
        self.frames = {
            frame.digest: at
            for at, frame in enumerate(self._placement.frames)
            if frame.codec != TRUSTED
        }

    def spans(self, frame: int, uses: list[Use]) -> list[Span]:
        """The spans that make up all these uses of a frame; none when some byte is not here."""
        assert self._files is not None
        usable = (use for use in self._files.uses(frame) if self._is_unchanged(use.file))
        there = _furthest(sorted(usable, key=lambda use: use.frame_offset))
        offsets = [use.frame_offset for use in there]
        found: list[Span] = []
        for use in uses:
            parts = list(self._cover(use, there, offsets))
            if sum(part.length for part in parts) != use.length:
                return []
            found += parts
        return found

    def _cover(self, use: Use, there: list[Use], offsets: list[int]) -> Iterator[Span]:
        done = 0
        at = bisect_right(offsets, use.frame_offset) - 1
        while done < use.length and 0 <= at < len(there):
            source = there[at]
            inside = use.frame_offset + done - source.frame_offset
            if inside < 0 or inside >= source.length:
                return
            length = min(source.length - inside, use.length - done)
            yield Span(
                self._location(source.file),
                source.file_offset + inside,
                use.file,
                use.file_offset + done,
                length,
            )
            done += length
            at += 1

    def _is_unchanged(self, file: int) -> bool:
        if file not in self._unchanged:
            self._unchanged[file] = False
            with contextlib.suppress(OSError):
                facts = os.lstat(self._location(file))
                self._unchanged[file] = self._found.receipt.signature.covers(
                    facts.st_size, facts.st_mtime_ns, self._placement.files[file].size
                )
        return self._unchanged[file]

    def _location(self, file: int) -> str:
        return f"{self._found.folder}/{self._placement.files[file].path}"


def _furthest(ordered: list[Use]) -> list[Use]:
    """Uses but for those whose bytes all stand in one that begins no later."""
    found: list[Use] = []
    end = 0
    for use in ordered:
        if use.frame_offset + use.length > end:
            found.append(use)
            end = use.frame_offset + use.length
    return found
