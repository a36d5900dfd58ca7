"""ls: the datasets of a remote, or the files of a version."""

from __future__ import annotations

from collections.abc import Iterator

from stager.catalog import placements, remote, versions
from stager.model.names import Reference
from stager.model.tree import FileEntry
from stager.workspace import Workspace


def datasets(workspace: Workspace) -> list[str]:
    """Names, sorted; one listing of the remote's records."""
    return versions.datasets(remote.open_for_reading(workspace.remote))


def files(workspace: Workspace, reference: Reference) -> Iterator[FileEntry]:
    """The files of a version: two requests, however many files there are."""
    record = versions.resolve(workspace.remote, reference)
    yield from placements.read(workspace.remote, record.placement)[0].files
