"""log: the versions of a dataset, newest first, with their tags."""

from __future__ import annotations

from dataclasses import dataclass

from stager.catalog import remote, tags, versions
from stager.errors import VersionNotFound
from stager.model import names
from stager.model.version import VersionRecord
from stager.transfer.workers import in_order
from stager.workspace import Workspace


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A version and the tags that point to it now."""

    record: VersionRecord
    tags: tuple[str, ...]


def log(workspace: Workspace, name: str) -> list[LogEntry]:
    """One GET per version, several at once; VersionNotFound when there is none."""
    names.check_name(name)
    store = remote.open_for_reading(workspace.remote)
    labels = versions.labels(store, name)
    if not labels:
        near = names.nearest(name, versions.datasets(store))
        raise VersionNotFound(reference=name, nearest=near)
    pointed = tags.everything(store, name)
    connections = workspace.config.transfer.connections
    records = in_order(
        reversed(labels),
        lambda label: versions.read(store, name, label),
        connections,
        2 * connections,
    )
    return [
        LogEntry(
            record, tuple(tag for tag, version in pointed.items() if version == record.version)
        )
        for record in records
    ]
