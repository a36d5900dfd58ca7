"""tag: points a movable name at a version."""

from __future__ import annotations

from dataclasses import dataclass

from stager.catalog import remote, tags, versions
from stager.catalog.tags import TagMovement
from stager.errors import ObjectNotFound, UsageError, VersionExists
from stager.model import names
from stager.model.names import LATEST, Reference
from stager.model.version import VersionRecord
from stager.workspace import Workspace, utc_now


@dataclass(frozen=True, slots=True)
class TagReport:
    """Where the tag points now, and where it pointed before (None: nowhere)."""

    name: str
    tag: str
    version: str | None
    before: str | None
    dry_run: bool = False


def tag(workspace: Workspace, reference: Reference, label: str, dry_run: bool = False) -> TagReport:
    """Points `label` at the version that `reference` means now."""
    _check(label)
    store = remote.open_for_reading(workspace.remote)
    record = versions.resolve(store, reference)
    _check_free(workspace, record.name, label)
    before = tags.read(store, record.name, label)
    if not dry_run and before != record.version:
        _move(workspace, record.name, label, record.version)
        _check_still_there(workspace, record, label, before)
    return TagReport(record.name, label, record.version, before, dry_run)


def untag(workspace: Workspace, name: str, label: str, dry_run: bool = False) -> TagReport:
    """Removes a tag; its history stays."""
    names.check_name(name)
    before = tags.read(remote.open_for_reading(workspace.remote), name, label)
    if before is not None and not dry_run:
        _move(workspace, name, label, "")
    return TagReport(name, label, None, before, dry_run)


def _move(workspace: Workspace, name: str, label: str, version: str) -> None:
    store = remote.open_for_writing(workspace.remote, workspace.listener)
    tags.move(store, name, label, TagMovement(version, utc_now(), workspace.config.author))


def _check_still_there(
    workspace: Workspace, record: VersionRecord, label: str, before: str | None
) -> None:
    """Against `rm` at the same moment: it looks at the tags when the record is gone.

    So one of us sees the other; what is gone gets no tag, and the error says so.
    """
    try:
        versions.read(workspace.remote, record.name, record.version)
    except ObjectNotFound:
        _move(workspace, record.name, label, before or "")
        versions.resolve(workspace.remote, Reference(record.name, record.version))


def _check(label: str) -> None:
    names.check_label(label)
    if label == LATEST or names.version_number(label):
        raise UsageError(reason=f"{label!r} always means a version and cannot be a tag")


def _check_free(workspace: Workspace, name: str, label: str) -> None:
    try:
        versions.read(workspace.remote, name, label)
    except ObjectNotFound:
        return
    raise VersionExists(reference=f"{name}@{label}", hint="choose another name for the tag")
