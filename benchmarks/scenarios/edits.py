"""What stager stores and moves for the edits that datasets see: figures, where others have times.

Every edit is pushed to a copy of a remote that holds the first version, from a node that has
it staged, and pulled by a node that has it and by one that has nothing.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import edits
from benchmarks.comparison import Bar, Comparison, Contender, Within
from benchmarks.holdings import refill
from benchmarks.measure import BenchmarkFailed, Command, Sample, measure
from benchmarks.peers import stager
from benchmarks.peers.peer import Peer, Place
from benchmarks.rounds import Scenario
from benchmarks.stores import STORES
from benchmarks.workspace import MEGABYTE, Workspace, require_same_tree
from tests.support.s3_server import S3Server, seaweedfs

SIZE = 256 * MEGABYTE
MOST_PLACEMENT = 2  # percent of the first version's raw bytes
MOST_SHUFFLED = 3  # percent of what the first version stored in packs
Edit = Callable[[Path, Path], Path]
OF_ONE: Mapping[str, Edit] = {
    "append 1 %": edits.appended,
    "sort by score": edits.sorted_by_score,
    "shuffle": edits.shuffled,
    "repeat a random tenth": edits.with_repeats,
    "split into ten": edits.split,
}
OF_TEN: Mapping[str, Edit] = {
    "drop a file": edits.without_one,
    "rename a file": edits.renamed,
}


@dataclass(frozen=True)
class First:
    """A first version: its folder, what its push reported, where it is and where it is copied."""

    folder: Path
    report: Mapping[str, Any]
    template: Place
    place: Place


def comparisons(space: Workspace) -> Iterator[Comparison]:
    """Edits of one file, then of the same records in ten."""
    if not space.wants("stager"):
        return
    one = space.jsonl(SIZE)
    ten = edits.split(one, space.disk / "ten")
    with seaweedfs(space.disk / "edits") as server:
        for folder, kinds in ((one, OF_ONE), (ten, OF_TEN)):
            yield _comparison(space, _publish(space, server, folder), kinds)


def _publish(space: Workspace, server: S3Server, folder: Path) -> First:
    _, as_sent = STORES
    template = Place(server, as_sent.make(server), f"{folder.name}-first")
    with space.fresh("publish") as scratch:
        report = _report(stager.push(folder, template, scratch), scratch)
    return First(folder, report, template, dataclasses.replace(template, prefix=folder.name))


def _comparison(space: Workspace, first: First, kinds: Mapping[str, Edit]) -> Comparison:
    raw, packs = first.report["bytes_raw"], first.report["bytes_stored"]
    bars: list[Bar] = [
        Within(name, "bytes_placement", MOST_PLACEMENT, "% of raw", raw / 100) for name in kinds
    ]
    if "shuffle" in kinds:
        of_packs = "% of the first version's packs"
        bars.append(Within("shuffle", "bytes_stored", MOST_SHUFFLED, of_packs, packs / 100))
    count = first.report["files"]
    files = "one file" if count == 1 else f"{count} files"
    peer = stager.stager()
    return Comparison(
        title=(
            f"edits of {files}, {raw / MEGABYTE:,.0f} MB JSONL stored in {packs / MEGABYTE:,.1f} "
            "MB: one push each, shares of the first version"
        ),
        amount=raw / MEGABYTE,
        unit="MB",
        contenders=[partial(_edit, space, first, peer, *kind) for kind in kinds.items()],
        bars=bars,
        raw=raw,
        most_rounds=1,
        rows="edit",
    )


def _edit(space: Workspace, first: First, peer: Peer, name: str, edit: Edit) -> Contender:
    source = edit(first.folder, space.disk / f"{first.folder.name}-{name.replace(' ', '-')}")

    def command(scratch: Path) -> Command:
        refill(first.place, first.template)
        measure(stager.pull_version("v1", first.place, scratch), scratch)
        return stager.push(source, first.place, scratch)

    def prove(ran: Command, scratch: Path, sample: Sample) -> Mapping[str, float]:
        del ran
        pushed = json.loads(sample.output)
        if (
            not pushed["created"]
            or pushed["version"] != "v2"
            or pushed["base"] != f"{stager.DATASET}@v1"
        ):
            raise BenchmarkFailed(f"{name}: not pushed as the second version: {pushed}")
        facts = _report(stager.show("v2", first.place, scratch), scratch)
        near = _pulled(source, first.place, scratch)
        far = _pulled(source, first.place, scratch / "elsewhere")
        return {
            "bytes_sent": pushed["bytes_transferred"],
            "bytes_stored": pushed["bytes_stored"],
            "bytes_placement": pushed["bytes_placement"],
            "bytes_index": pushed["bytes_index"],
            "slices": facts["slices"],
            "bytes_pulled_onto_first": near["bytes_transferred"],
            "pull_onto_first_s": near["seconds"],
            "bytes_pulled_fresh": far["bytes_transferred"],
            "pull_fresh_s": far["seconds"],
        }

    return Contender(name, peer.version, peer.push_shown, command, prove)


def _pulled(source: Path, place: Place, scratch: Path) -> Mapping[str, Any]:
    """The report of a pull of the edit that brought exactly its bytes."""
    pull = stager.pull_version("v2", place, scratch)
    report = _report(pull, scratch)
    assert pull.result is not None, "a pull names its result"
    require_same_tree(source, pull.result)
    return report


def _report(command: Command, scratch: Path) -> Mapping[str, Any]:
    report: Mapping[str, Any] = json.loads(measure(command, scratch).output)
    return report


SCENARIO = Scenario(
    name="edits",
    question="What does stager store and move for each of the edits that datasets see?",
    comparisons=comparisons,
)
