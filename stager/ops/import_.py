"""import: what DVC, Git LFS or the Hugging Face hub keeps, as a new version.

The tool's files are found and named first (`find`), brought here if they are elsewhere
(`bring`), and pushed as any folder is. What the tool promised of the content is checked
in the same pass over the bytes that hashes and packs them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from stager.cache.scratch import scratch
from stager.errors import UsageError, problems
from stager.foreign.found import ForeignFile
from stager.model.promise import Promise
from stager.ops.bring import bring, needed
from stager.ops.find import ImportPlan, ImportRequest, find
from stager.ops.push import PushReport, PushRequest, check_label_is_free, push_source
from stager.ops.reserve import reserved_bytes
from stager.packs.source import Source, SourceFile, source_file
from stager.workspace import Workspace

KINDS = ("dvc", "git-lfs", "hf")


@dataclass(frozen=True, slots=True)
class ImportReport(PushReport):
    """What a push reports, and where the content came from.

    `checked` files were compared with a digest of the other tool, `unchecked` have none.
    `bytes_fetched` came from elsewhere first. With `dry_run` nothing was read: `tree` is
    empty, sizes are those that the tool wrote down, and `bytes_stored` is not known (0).
    """

    provenance: Mapping[str, str] = field(default_factory=dict)
    checked: int = 0
    unchecked: int = 0
    bytes_fetched: int = 0


def import_(workspace: Workspace, request: ImportRequest, dry_run: bool = False) -> ImportReport:
    """A version of what another tool holds; DataError names everything that is not as promised."""
    _check(request)
    with scratch(workspace.folders, workspace.listener) as folder:
        plan = find(workspace, request, folder)
        if dry_run:
            return _planned(workspace, request, plan)
        with reserved_bytes(workspace, folder, needed(plan)):
            brought = folder / "files"
            brought.mkdir()
            source = _source(plan, bring(workspace, plan, brought))
            pushed = PushRequest(Path(request.path), request.reference, request.message)
            report = push_source(workspace, pushed, source, plan.found.provenance)
    return _reported(report, plan)


def _check(request: ImportRequest) -> None:
    check_label_is_free(request.reference)
    if request.kind not in KINDS:
        raise UsageError(reason=f"import from one of {', '.join(KINDS)}")
    if request.dvc_remote and request.kind != "dvc":
        raise UsageError(reason="--dvc-remote goes with --dvc")


def _source(plan: ImportPlan, files: list[ForeignFile]) -> Source:
    """The files where they lie, in order; DataError for those that are gone or of another size."""
    found: list[SourceFile] = []
    findings: list[str] = []
    for file in sorted(files, key=lambda file: file.path.encode()):
        promise = Promise(file.algorithm, file.expected) if file.algorithm else None
        try:
            entry = source_file(file.path, file.location, promise)
        except FileNotFoundError:
            findings.append(f"{file.path!r}: {file.location} is gone")
            continue
        if file.size not in (-1, entry.size):
            findings.append(f"{file.path!r}: expected {file.size} bytes, got {entry.size}")
        found.append(entry)
    if findings:
        raise problems(plan.title, findings)
    return Source(plan.title, tuple(found), ())


def _planned(workspace: Workspace, request: ImportRequest, plan: ImportPlan) -> ImportReport:
    files = plan.found.files
    return ImportReport(
        reference=str(request.reference),
        version=request.reference.selector or "",
        tree="",
        path=plan.title,
        files=len(files),
        bytes_raw=sum(_size(plan, file) for file in files),
        bytes_stored=0,
        bytes_transferred=workspace.meter.received,
        bytes_reused=0,
        requests=workspace.meter.by_kind(),
        seconds=round(workspace.meter.seconds, 3),
        created=False,
        dry_run=True,
        **_numbers(plan),
    )


def _size(plan: ImportPlan, file: ForeignFile) -> int:
    if file.key in plan.objects:
        return plan.objects[file.key].size
    return os.path.getsize(file.location) if file.size < 0 else file.size


def _reported(report: PushReport, plan: ImportPlan) -> ImportReport:
    facts = {item.name: getattr(report, item.name) for item in fields(report)}
    return ImportReport(**{**facts, "path": plan.title}, **_numbers(plan))


def _numbers(plan: ImportPlan) -> dict[str, Any]:
    checked = sum(1 for file in plan.found.files if file.algorithm)
    return {
        "provenance": plan.found.provenance,
        "checked": checked,
        "unchecked": len(plan.found.files) - checked,
        "bytes_fetched": sum(info.size for info in plan.objects.values()),
    }
