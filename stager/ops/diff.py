"""diff: what differs between two versions or paths, in files and in records.

Files are compared by digest; one that both sides hold is not read. Of changed text files the
records are compared, and for that the files of a version that is not staged here are fetched
into a folder that goes afterwards.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from stager.cache.leases import Lessee
from stager.cache.scratch import scratch
from stager.errors import UsageError
from stager.events import Advanced, Began, Warned
from stager.model import tree_diff
from stager.model.tree import FileEntry
from stager.model.tree_diff import TreeDiff
from stager.ops import diff_records
from stager.ops.borrow import borrow, holds_nul
from stager.ops.diff_records import RecordCounts, RecordDiff, RecordRequest, RecordRow
from stager.ops.resolve import Side, sides
from stager.workspace import Workspace

ADDED, REMOVED, CHANGED, RENAMED = "added", "removed", "changed", "renamed"


class DiffRequest(NamedTuple):
    """Two arguments as they were typed: references or paths; and what to tell of records.

    `limit` records of each file are shown where `records` is set, all of them for 0; `key`
    is the field that makes two records the same one, changed.
    """

    before: str
    after: str
    records: bool = False
    limit: int = 20
    key: str = ""


class SideName(NamedTuple):
    """What an argument was taken for: a path, a staged version, a version in the remote."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class FileDiff:
    """A file that differs. `records` is None where none were compared: the file is on one
    side only, was renamed, or is no text. Sizes in bytes."""

    kind: str
    path: str
    path_before: str
    size_before: int | None
    size_after: int | None
    records: RecordCounts | None = None
    fields: Mapping[str, int] = field(default_factory=dict)
    rows: tuple[RecordRow, ...] = ()


@dataclass(frozen=True, slots=True)
class DiffReport:
    """Every file that differs, how many of which kind, and the records of all changed files.

    With `dry_run` no record was compared, and `bytes_to_fetch` is the most it would take.
    """

    before: SideName
    after: SideName
    files: Mapping[str, int]
    records: RecordCounts
    fields: Mapping[str, int]
    changes: tuple[FileDiff, ...]
    keyless: int = 0
    bytes_transferred: int = 0
    bytes_to_fetch: int = 0
    seconds: float = 0.0
    dry_run: bool = False

    @property
    def is_same(self) -> bool:
        """Whether both sides hold the same files."""
        return not self.changes


class _Plan(NamedTuple):
    before: Side
    after: Side
    tree: TreeDiff

    def remote(self) -> Iterator[tuple[Side, list[int]]]:
        """Each side that is not on this node, and the indexes of its changed files."""
        for number, side in enumerate((self.before, self.after)):
            if side.placement is not None:
                changed = {pair[number].path for pair in self.tree.changed}
                yield side, [at for at, file in enumerate(side.files) if file.path in changed]


def diff(workspace: Workspace, request: DiffRequest, dry_run: bool = False) -> DiffReport:
    """Compares two sides; UsageError for arguments that are none or a limit below 0.

    One Warned event says how many differing records lack the key.
    """
    if request.limit < 0:
        raise UsageError(reason=f"--limit {request.limit}: a number of records, 0 for all")
    lessee = Lessee(workspace.folders, os.getpid(), lasting=False)
    try:
        return _diff(workspace, request, dry_run, lessee)
    finally:
        lessee.release()


def _diff(workspace: Workspace, request: DiffRequest, dry_run: bool, lessee: Lessee) -> DiffReport:
    before, after = sides(workspace, request.before, request.after, lessee)
    planned = _Plan(before, after, tree_diff.compare(before.files, after.files))
    found: dict[str, RecordDiff] = {}
    if planned.tree.changed and not dry_run:
        found = _compared(workspace, planned, request)
    report = _report(workspace, planned, found, dry_run)
    if report.keyless:
        what = f"{report.keyless} differing records hold no {request.key!r}"
        workspace.listener(Warned(f"{what}: they count as added or removed"))
    return report


def _compared(workspace: Workspace, planned: _Plan, request: DiffRequest) -> dict[str, RecordDiff]:
    """By the later path: the records of every changed file that is text on both sides."""
    shown = (request.limit or None) if request.records else 0
    asked = RecordRequest(shown, request.key)
    found: dict[str, RecordDiff] = {}
    with contextlib.ExitStack() as held:
        pairs = _here(workspace, planned, held)
        workspace.listener(Began("compare", sum(one.size + two.size for one, two in pairs)))
        for one, two in pairs:
            files = planned.before.file(one.path), planned.after.file(two.path)
            with workspace.meter.spent_on("cpu"):
                records = diff_records.compare(*files, asked)
            if records is not None:
                found[two.path] = records
            workspace.listener(Advanced(one.size + two.size))
    return found


def _here(
    workspace: Workspace, planned: _Plan, held: contextlib.ExitStack
) -> list[tuple[FileEntry, FileEntry]]:
    """The changed files that may be text, on this node until `held` is left.

    What is here is looked at first: the other side of a file that is no text is not fetched.
    """
    pairs = list(planned.tree.changed)
    both = (planned.before, planned.after)
    for number, side in enumerate(both):
        if side.placement is None:
            pairs = [pair for pair in pairs if not holds_nul(f"{side.folder}/{pair[number].path}")]
    for number, side in enumerate(both):
        if side.placement is not None and pairs:
            folder = held.enter_context(scratch(workspace.folders, workspace.listener))
            side.folder = str(folder)
            paths = {pair[number].path for pair in pairs}
            wanted = [at for at, file in enumerate(side.files) if file.path in paths]
            text = {side.files[at].path for at in borrow(workspace, side.placement, wanted, folder)}
            pairs = [pair for pair in pairs if pair[number].path in text]
    return pairs


def _report(
    workspace: Workspace, planned: _Plan, found: Mapping[str, RecordDiff], dry_run: bool
) -> DiffReport:
    tree, total, fields = planned.tree, RecordCounts(), Counter[str]()
    for records in found.values():
        total = total.plus(records.counts)
        fields.update(records.fields)
    counts = {kind: len(getattr(tree, kind)) for kind in (REMOVED, ADDED, CHANGED, RENAMED)}
    return DiffReport(
        before=SideName(planned.before.name, planned.before.kind),
        after=SideName(planned.after.name, planned.after.kind),
        files={**counts, "same": len(tree.same)},
        records=total,
        fields=dict(fields.most_common()),
        changes=tuple(_changes(tree, found)),
        keyless=sum(records.keyless for records in found.values()),
        bytes_transferred=workspace.meter.received,
        bytes_to_fetch=_to_fetch(planned) if dry_run else 0,
        seconds=round(workspace.meter.seconds, 3),
        dry_run=dry_run,
    )


def _changes(tree: TreeDiff, found: Mapping[str, RecordDiff]) -> list[FileDiff]:
    listed = [FileDiff(REMOVED, one.path, one.path, one.size, None) for one in tree.removed]
    listed += [FileDiff(ADDED, two.path, two.path, None, two.size) for two in tree.added]
    for one, two in tree.renamed:
        listed.append(FileDiff(RENAMED, two.path, one.path, one.size, two.size))
    for one, two in tree.changed:
        facts = (CHANGED, two.path, one.path, one.size, two.size)
        records = found.get(two.path)
        if records is None:
            listed.append(FileDiff(*facts))
        else:
            listed.append(FileDiff(*facts, records.counts, records.fields, records.rows))
    return sorted(listed, key=lambda change: change.path.encode())


def _to_fetch(planned: _Plan) -> int:
    """Stored bytes of all frames of the changed files that are not on this node."""
    total = 0
    for side, wanted in planned.remote():
        placement = side.placement
        assert placement is not None
        frames = {piece.frame for at in wanted for piece in placement.slices_of(at)}
        total += sum(placement.frames[at].stored for at in frames)
    return total
