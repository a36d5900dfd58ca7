"""show: everything known of one version."""

from __future__ import annotations

from dataclasses import dataclass

from stager.catalog import placements, versions
from stager.model.names import Reference
from stager.model.version import VersionRecord
from stager.workspace import Workspace


@dataclass(frozen=True, slots=True)
class VersionFacts:
    """A record and what its placement adds; bytes."""

    record: VersionRecord
    packs: int
    frames: int
    slices: int
    bytes_stored: int


def show(workspace: Workspace, reference: Reference) -> VersionFacts:
    """Two requests for a named version."""
    record = versions.resolve(workspace.remote, reference)
    placement, _ = placements.read(workspace.remote, record.placement)
    return VersionFacts(
        record=record,
        packs=len(placement.packs),
        frames=len(placement.frames),
        slices=len(placement.slice_frame),
        bytes_stored=placement.bytes_stored,
    )
