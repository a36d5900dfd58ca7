"""adopt: a prefix that exists already becomes a version, without copying a byte."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace

from blake3 import blake3

from stager.catalog import placements, versions
from stager.errors import PreconditionFailed, SourceChanged, UsageError, problems
from stager.events import Advanced, Began
from stager.model import layout, paths
from stager.model.digest import Digest, weak_digest
from stager.model.names import Reference
from stager.model.placement import (
    MAX_FRAME_RAW,
    TRUSTED,
    Frame,
    Pack,
    Placement,
    PlacementBuilder,
    Slice,
)
from stager.model.tree import FileEntry
from stager.model.version import PlacementKey, VersionRecord
from stager.ops.keep import Cut, placement_of
from stager.ops.push import PushReport, publish, writable
from stager.packs.source import cut_stream
from stager.storage.connect import normalised
from stager.storage.store import Data, ObjectInfo, ObjectStore
from stager.transfer.workers import in_order
from stager.workspace import Workspace, utc_now

BLOCK_BYTES = 8 * 1024 * 1024
Block = tuple[int, int, int]  # object, start, end


@dataclass(frozen=True, slots=True)
class AdoptRequest:
    """The prefix, the version it becomes, and whether its content is read now."""

    url: str
    reference: Reference
    message: str = ""
    hashed: bool = True


def adopt(workspace: Workspace, request: AdoptRequest, dry_run: bool = False) -> PushReport:
    """Records every object below the URL: digests by one pass, or size and ETag."""
    url = normalised(request.url)
    store = workspace.store(url)
    opened = workspace.remote if dry_run else writable(workspace)
    objects = _objects(store)
    base = "" if not url.startswith(workspace.remote_url + "/") else workspace.remote_url + "/"
    prefix = f"{url}/".removeprefix(base) if base else f"{url}/"
    packs = [Pack(prefix + info.key, info.size, info.etag) for info in objects]
    hashed = request.hashed and not dry_run
    workspace.listener(Began("adopt", sum(info.size for info in objects)))
    placement = (
        placement_of(list(zip(_read(workspace, store, objects), packs, strict=True)))
        if hashed
        else _trusted(url, objects, packs)
    )
    record = VersionRecord(
        name=request.reference.name,
        version=request.reference.selector or "",
        tree=str(placement.tree().digest()),
        placement=PlacementKey("", 0, 0),
        parent=None,
        time=utc_now(),
        author=workspace.config.author,
        message=request.message,
        files=len(placement.files),
        bytes_raw=placement.bytes_raw,
        bytes_new=0,
        provenance={"kind": "adopt", "url": url, "hashed": str(request.hashed).lower()},
    )
    if known := _held_already(opened, request.reference, placement):
        return replace(_report(workspace, known, url, dry_run), created=False)
    if not dry_run:
        record = publish(workspace, opened, record, placement)
    return _report(workspace, record, url, dry_run)


def _held_already(
    store: ObjectStore, reference: Reference, placement: Placement
) -> VersionRecord | None:
    """The latest version, when it is of the same objects: an adoption that is run again."""
    known = [] if reference.selector else versions.labels(store, reference.name)
    if not known:
        return None
    key = layout.version_key(reference.name, known[-1])
    record = versions.read_at(store, key, reference.name, known[-1])
    return record if record.placement == placements.pack(placement)[1] else None


def _objects(store: ObjectStore) -> list[ObjectInfo]:
    """The objects to record; folder placeholders are left out, offenders named at once."""
    objects, findings = [], []
    for info in store.list():
        if info.key.endswith("/") or not info.key:
            if info.size:
                findings.append(f"{info.key!r}: {info.size} bytes under the name of a folder")
            continue
        objects.append(info)
    objects = _without_placeholders(objects)
    findings += paths.offences([info.key for info in objects])
    if findings:
        raise problems(store.url, findings)
    if not objects:
        raise UsageError(reason=f"{store.url}: nothing there to adopt")
    return objects


def _without_placeholders(objects: list[ObjectInfo]) -> list[ObjectInfo]:
    """Some transports show the empty object `data/` as `data`: dropped where it has children."""
    folders = paths.folders(info.key for info in objects)
    return [info for info in objects if info.size or info.key not in folders]


def _trusted(url: str, objects: list[ObjectInfo], packs: list[Pack]) -> Placement:
    builder = PlacementBuilder()
    for info, pack in zip(objects, packs, strict=True):
        number = builder.pack(pack) if info.size else 0
        slices = []
        for start in range(0, info.size, MAX_FRAME_RAW):
            length = min(MAX_FRAME_RAW, info.size - start)
            frame = Frame(number, start, length, length, TRUSTED, bytes(32))
            slices.append(Slice(builder.frame(frame), 0, length))
        digest = weak_digest(f"{url}/{info.key}", info.size, info.etag)
        builder.file(FileEntry(info.key, info.size, digest), slices)
    return builder.build()


def _read(workspace: Workspace, store: ObjectStore, objects: list[ObjectInfo]) -> Iterator[Cut]:
    """Every object's digests, its bytes fetched on many connections and hashed in order."""
    connections = workspace.config.transfer.connections
    changed: list[str] = []
    guard = threading.Lock()

    def get(block: Block) -> Data:
        at, start, end = block
        try:
            return store.get(objects[at].key, start, end, objects[at].etag)
        except PreconditionFailed:
            with guard:
                changed.append(objects[at].key)
            return bytes(end - start)

    blocks = in_order(_blocks(objects), get, connections, 2 * connections)
    for info in objects:
        hasher = blake3()
        frames = []
        for data in cut_stream(_taken(blocks, info.size)):
            hasher.update(data)
            frames.append((len(data), blake3(data).digest()))
            workspace.listener(Advanced(len(data)))
        yield FileEntry(info.key, info.size, Digest(hasher.digest())), frames
    if changed:
        raise SourceChanged(names=", ".join(sorted(set(changed))))


def _blocks(objects: list[ObjectInfo]) -> Iterator[Block]:
    for at, info in enumerate(objects):
        for start in range(0, info.size, BLOCK_BYTES):
            yield at, start, min(info.size, start + BLOCK_BYTES)


def _taken(blocks: Iterator[Data], size: int) -> Iterator[memoryview]:
    while size > 0:
        block = memoryview(next(blocks))
        size -= len(block)
        yield block


def _report(workspace: Workspace, record: VersionRecord, url: str, dry_run: bool) -> PushReport:
    meter = workspace.meter
    return PushReport(
        reference=f"{record.name}@{record.version}" if record.version else record.name,
        version=record.version,
        tree=record.tree,
        path=url,
        files=record.files,
        bytes_raw=record.bytes_raw,
        bytes_stored=0,
        bytes_transferred=meter.received,
        bytes_reused=record.bytes_raw,
        requests=meter.by_kind(),
        seconds=round(meter.seconds, 3),
        limit=meter.limit(),
        created=not dry_run,
        dry_run=dry_run,
    )
