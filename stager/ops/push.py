"""push: a local file or folder as a new, immutable version."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from stager.catalog import placements, remote, versions
from stager.errors import ObjectNotFound, UsageError, VersionExists, problems
from stager.events import Noted, Warned
from stager.model.names import LATEST, Reference
from stager.model.placement import Placement
from stager.model.version import PlacementKey, VersionRecord
from stager.ops.keep import keep
from stager.ops.pack import Packed, pack, place
from stager.ops.recall import recall
from stager.packs.source import Source, broken_promises, scan
from stager.storage.store import ObjectStore
from stager.workspace import Workspace, utc_now


@dataclass(frozen=True, slots=True)
class PushRequest:
    """What to push and as what; a reference with a version asks for exactly that label.

    `base` is the version to share content with, in place of the latest of the dataset;
    with `alone` there is none.
    """

    source: Path
    reference: Reference
    message: str = ""
    plain: bool = False
    base: Reference | None = None
    alone: bool = False


@dataclass(frozen=True, slots=True)
class PushReport:
    """What a push did, or with `dry_run` would do. Bytes and seconds.

    `bytes_stored` is what the version added to the remote in packs, `bytes_index` in record
    indexes; `bytes_transferred` is all that was sent, placement and record included, and
    `bytes_received` what had to be read for it. `bytes_reused` are the raw bytes shared with
    `base`. `created` is false when the latest version already holds exactly this content.
    """

    reference: str
    version: str
    tree: str
    path: str
    files: int
    bytes_raw: int
    bytes_stored: int
    bytes_transferred: int
    bytes_reused: int
    bytes_received: int = 0
    bytes_index: int = 0
    bytes_placement: int = 0
    base: str = ""
    requests: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    limit: str = "none"
    created: bool = True
    dry_run: bool = False


def push(workspace: Workspace, request: PushRequest, dry_run: bool = False) -> PushReport:
    """Stores the content, then its placement, then the record that makes it a version."""
    check_label_is_free(request.reference)
    source = scan(request.source)
    provenance = {"kind": "push", "source": request.source.absolute().name}
    return push_source(workspace, request, source, provenance, dry_run)


def push_source(
    workspace: Workspace,
    request: PushRequest,
    source: Source,
    provenance: Mapping[str, str],
    dry_run: bool = False,
) -> PushReport:
    """As `push`, of files that were found already and may lie anywhere.

    DataError naming every file that is not what was promised of it; then nothing is made.
    """
    _tell(workspace, source)
    opened = remote.open_for_reading(workspace.remote) if dry_run else writable(workspace)
    parent = _parent(opened, request.reference.name)
    base = _base(opened, request, parent)
    packed = _store(workspace, request, source, base, dry_run)
    if findings := broken_promises(source):
        raise problems(source.root, findings)
    tree = packed.placement.tree().digest()
    if parent is not None and parent.tree == str(tree) and request.reference.selector is None:
        return replace(_report(workspace, request, packed, parent, dry_run), created=False)
    record = VersionRecord(
        name=request.reference.name,
        version=request.reference.selector or "",
        tree=str(tree),
        placement=PlacementKey("", 0, 0),
        parent=parent.version if parent else None,
        time=utc_now(),
        author=workspace.config.author,
        message=request.message,
        files=len(packed.placement.files),
        bytes_raw=packed.placement.bytes_raw,
        bytes_new=packed.bytes_stored,
        provenance=provenance,
    )
    if not dry_run:
        record = publish(workspace, opened, record, packed.placement)
    report = _report(workspace, request, packed, record, dry_run)
    return replace(report, base=f"{base.name}@{base.version}" if base else "")


def writable(workspace: Workspace) -> ObjectStore:
    """The remote with a create() that holds; see catalog/remote.py."""
    return remote.open_for_writing(workspace.remote, workspace.listener)


def publish(
    workspace: Workspace, store: ObjectStore, record: VersionRecord, placement: Placement
) -> VersionRecord:
    """Placement, then record: the version exists from here on. What was written.

    `store` is what `writable` gave.

    An empty `record.version` asks for the next number. A label that exists with the same
    content is returned as it is; with other content it is VersionExists.
    """
    record = replace(record, placement=placements.write(store, placement))

    def raced() -> None:
        workspace.listener(Noted("somebody else took that number; trying the next one"))

    try:
        return versions.commit(store, record, record.version or None, raced)
    except VersionExists:
        with contextlib.suppress(ObjectNotFound):
            there = versions.read(store, record.name, record.version)
            if there.tree == record.tree:
                return there
        raise


def check_label_is_free(reference: Reference) -> None:
    """UsageError for `name@latest`, which is no label of a version."""
    if reference.selector == LATEST:
        raise UsageError(reason="a version cannot be called 'latest'")


def _parent(store: ObjectStore, name: str) -> VersionRecord | None:
    known = versions.labels(store, name)
    return versions.read(store, name, known[-1]) if known else None


def _base(
    store: ObjectStore, request: PushRequest, parent: VersionRecord | None
) -> VersionRecord | None:
    if request.plain or request.alone:
        return None
    return versions.resolve(store, request.base) if request.base else parent


def _store(
    workspace: Workspace,
    request: PushRequest,
    source: Source,
    base: VersionRecord | None,
    dry_run: bool,
) -> Packed:
    if request.plain:
        return keep(workspace, request.reference.name, source, dry_run)
    opened = recall(workspace, base, source.bytes_raw) if base else None
    return place(workspace, source, opened) if dry_run else pack(workspace, source, opened)


def _tell(workspace: Workspace, source: Source) -> None:
    if not source.files:
        raise UsageError(reason=f"{source.root}: no files to push")
    if source.empty_folders:
        shown = ", ".join(source.empty_folders[:5])
        count = len(source.empty_folders)
        workspace.listener(Warned(f"{count} empty folder(s) are not part of the version: {shown}"))


def _report(
    workspace: Workspace,
    request: PushRequest,
    packed: Packed,
    record: VersionRecord,
    dry_run: bool,
) -> PushReport:
    meter = workspace.meter
    return PushReport(
        reference=f"{record.name}@{record.version}" if record.version else record.name,
        version=record.version,
        tree=record.tree,
        path=str(request.source),
        files=record.files,
        bytes_raw=record.bytes_raw,
        bytes_stored=packed.bytes_stored,
        bytes_transferred=meter.sent,
        bytes_reused=packed.bytes_reused,
        bytes_received=meter.received,
        bytes_index=packed.bytes_index,
        bytes_placement=record.placement.stored,
        requests=meter.by_kind(),
        seconds=round(meter.seconds, 3),
        limit=meter.limit(),
        created=not dry_run,
        dry_run=dry_run,
    )
