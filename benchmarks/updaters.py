"""How each tool brings an edit of what is there already to the store, and to a node.

Every method but the two that return a Command runs untimed and goes to `place` directly. The
commands reach the server of `far`, which is the same prefix seen through a relay.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from benchmarks.measure import BenchmarkFailed, Command, Sample, measure
from benchmarks.peers import dvc, s5cmd, stager
from benchmarks.peers.peer import Peer, Place
from benchmarks.wire import Carried

OVERHEAD_BYTES = 1024  # most that the headers of a request, or of its answer, take


@dataclass(frozen=True)
class Pair:
    """A folder and its edit."""

    first: Path
    edit: Path

    @property
    def raw(self) -> int:
        """Bytes of the edit."""
        return sum(path.stat().st_size for path in self.edit.rglob("*") if path.is_file())


class Updater(Protocol):
    """One tool; `scratch` is a fresh folder that lasts as long as the run."""

    @property
    def name(self) -> str:
        """As in tables."""

    @property
    def peer(self) -> Peer:
        """Its version."""

    @property
    def push_shown(self) -> str:
        """The timed command of a push, for readers."""

    @property
    def pull_shown(self) -> str:
        """The timed command of a pull, for readers."""

    def publish(self, pair: Pair, place: Place, scratch: Path) -> None:
        """The first version at an empty place."""

    def push(self, pair: Pair, place: Place, far: Place, scratch: Path) -> Command:
        """Send the edit to a place that holds the first version."""

    def pull(self, pair: Pair, place: Place, far: Place, scratch: Path) -> Command:
        """Fetch the edit, on a node that has the first version."""

    def fetch(self, place: Place, scratch: Path) -> Command:
        """Fetch the edit, on a node that has nothing."""

    def check(self, sample: Sample, carried: Carried) -> Mapping[str, float]:
        """Further figures; BenchmarkFailed where the tool's own count cannot be true."""


@dataclass(frozen=True)
class ByStager:
    """The first version is in the node's cache or, for a push, need not be (`staged`)."""

    staged: bool = True
    peer: Peer = field(default_factory=stager.stager)
    push_shown: str = "stager push EDIT bench --remote s3://BUCKET/PREFIX --json"
    pull_shown: str = "stager pull bench@v2 --remote s3://BUCKET/PREFIX --json"

    @property
    def name(self) -> str:
        """stager, and what is particular about it."""
        return "stager" if self.staged else "stager, base not staged"

    def publish(self, pair: Pair, place: Place, scratch: Path) -> None:
        """See Updater.publish."""
        measure(stager.push(pair.first, place, scratch), scratch)

    def push(self, pair: Pair, place: Place, far: Place, scratch: Path) -> Command:
        """See Updater.push."""
        if self.staged:
            measure(stager.pull_version("v1", place, scratch), scratch)
        return stager.push(pair.edit, far, scratch)

    def pull(self, pair: Pair, place: Place, far: Place, scratch: Path) -> Command:
        """See Updater.pull."""
        del pair
        measure(stager.pull_version("v1", place, scratch), scratch)
        return stager.pull_version("v2", far, scratch)

    def fetch(self, place: Place, scratch: Path) -> Command:
        """See Updater.fetch."""
        return stager.pull_version("v2", place, scratch)

    def check(self, sample: Sample, carried: Carried) -> Mapping[str, float]:
        """What the report says was moved was moved, and beside it no more than headers."""
        report = json.loads(sample.output)
        sent = report["bytes_transferred"] if "bytes_stored" in report else 0
        received = report["bytes_received" if "bytes_stored" in report else "bytes_transferred"]
        allowed = OVERHEAD_BYTES * sum(report["requests"].values())
        for what, told, seen in (
            ("sent", sent, carried.sent),
            ("received", received, carried.received),
        ):
            if not told <= seen <= told + allowed:
                raise BenchmarkFailed(f"{what}: {told} in the report, {seen} bytes on the wire")
        return {"requests": float(sum(report["requests"].values()))}


@dataclass(frozen=True)
class ByDvc:
    """A project on disk that tracks the edit; its remote is where the first version went."""

    project: Path
    name: str = "dvc"
    peer: Peer = field(default_factory=lambda: dvc.dvc(Path()))
    push_shown: str = "dvc push  (the edit added)"
    pull_shown: str = "dvc pull  (in a clone at the first version, data.dvc of the edit put in)"

    def publish(self, pair: Pair, place: Place, scratch: Path) -> None:
        """See Updater.publish; the project goes on to track the edit."""
        dvc.publish(self.project, pair.first, place, scratch)
        shutil.copy(self.project / dvc.POINTER, self._first)
        dvc.track(self.project, pair.edit, place, scratch)

    def push(self, pair: Pair, place: Place, far: Place, scratch: Path) -> Command:
        """See Updater.push."""
        dvc.reach(self.project, far)
        return dvc.push(self.project, pair.edit, far, scratch)

    def pull(self, pair: Pair, place: Place, far: Place, scratch: Path) -> Command:
        """See Updater.pull."""
        clone = dvc.clone(self.project, scratch)
        measure(dvc.pull_again(clone, self._first, place, scratch), scratch)
        return dvc.pull_again(clone, self.project / dvc.POINTER, far, scratch)

    def fetch(self, place: Place, scratch: Path) -> Command:
        """See Updater.fetch."""
        return dvc.pull(self.project, place, scratch)

    def check(self, sample: Sample, carried: Carried) -> Mapping[str, float]:
        """See Updater.check: DVC tells no bytes."""
        return {}

    @property
    def _first(self) -> Path:
        return self.project.with_name(f"{self.project.name}-first.dvc")


@dataclass(frozen=True)
class ByS5cmd:
    """A prefix that is the folder; the edit takes the place of the first version."""

    name: str = "s5cmd"
    peer: Peer = field(default_factory=s5cmd.s5cmd)
    push_shown: str = "s5cmd sync EDIT/ s3://BUCKET/PREFIX/"
    pull_shown: str = "s5cmd sync 's3://BUCKET/PREFIX/*' FOLDER/  (which holds the first version)"

    def publish(self, pair: Pair, place: Place, scratch: Path) -> None:
        """See Updater.publish."""
        measure(s5cmd.push(pair.first, place, scratch), scratch)

    def push(self, pair: Pair, place: Place, far: Place, scratch: Path) -> Command:
        """See Updater.push."""
        return s5cmd.sync_up(pair.edit, far)

    def pull(self, pair: Pair, place: Place, far: Place, scratch: Path) -> Command:
        """See Updater.pull."""
        target = scratch / "out"
        shutil.copytree(pair.first, target)
        return s5cmd.sync_down(far, target)

    def fetch(self, place: Place, scratch: Path) -> Command:
        """See Updater.fetch."""
        return s5cmd.pull(place, scratch)

    def check(self, sample: Sample, carried: Carried) -> Mapping[str, float]:
        """See Updater.check: s5cmd tells no bytes."""
        return {}
