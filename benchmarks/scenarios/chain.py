"""A long chain of versions: whether the last one is still worth reading.

Each version is an edit of the one before and refers to what the ones before it stored. The
pushing node has none of them staged; it reads the record indexes.
"""

from __future__ import annotations

import json
import shutil
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.comparison import Beside, Comparison, Contender
from benchmarks.edits import edited
from benchmarks.measure import Command, Sample, measure
from benchmarks.peers import stager
from benchmarks.peers.peer import Place
from benchmarks.rounds import Scenario
from benchmarks.stores import STORES
from benchmarks.workspace import MEGABYTE, Workspace, require_same_tree
from tests.support.s3_server import S3Server, seaweedfs

SIZE = 64 * MEGABYTE
VERSIONS = 50
MOST_RECEIVED = 1.3  # times what the same content takes where it was pushed once
LAST = f"last of {VERSIONS}"
ALONE = "pushed once"


@dataclass(frozen=True)
class Pushed:
    """A version in the store, what the pushes of it and its parents reported, its content."""

    place: Place
    version: str
    reports: Sequence[Mapping[str, Any]]
    content: Path


def comparisons(space: Workspace) -> Iterator[Comparison]:
    """A fresh pull of the last version, beside one of the same content from an empty remote."""
    if not space.wants("stager"):
        return
    with seaweedfs(space.disk / "chain") as server:
        last = _chain(space, server)
        alone = _once(space, server, last.content)
        raw = last.reports[-1]["bytes_raw"]
        yield Comparison(
            title=f"fresh pull of {raw / MEGABYTE:,.0f} MB JSONL, edited {VERSIONS - 1} times",
            amount=raw / MEGABYTE,
            unit="MB",
            contenders=[partial(_pulling, LAST, last), partial(_pulling, ALONE, alone)],
            bars=[Beside(LAST, ALONE, "bytes_received", MOST_RECEIVED)],
            raw=raw,
        )


def _chain(space: Workspace, server: S3Server) -> Pushed:
    """All versions, pushed one after the other; only two of their contents exist at a time."""
    place, content = _place(server, "chain"), space.jsonl(SIZE)
    reports = [_push(space, place, content)]
    for number in range(2, VERSIONS + 1):
        before, content = content, edited(content, space.disk / f"v{number}", seed=100 + number)
        if number > 2:
            shutil.rmtree(before)
        reports.append(_push(space, place, content))
    return Pushed(place, f"v{VERSIONS}", reports, content)


def _once(space: Workspace, server: S3Server, content: Path) -> Pushed:
    place = _place(server, "once")
    return Pushed(place, "v1", [_push(space, place, content)], content)


def _place(server: S3Server, prefix: str) -> Place:
    _, as_sent = STORES
    return Place(server, as_sent.make(server), prefix)


def _push(space: Workspace, place: Place, content: Path) -> Mapping[str, Any]:
    with space.fresh("publish") as scratch:
        sample = measure(stager.push(content, place, scratch), scratch)
    report: Mapping[str, Any] = json.loads(sample.output)
    return report


def _pulling(name: str, pushed: Pushed) -> Contender:
    """A pull onto an empty node; with it go the figures of the pushes after the first."""
    peer = stager.stager()

    def prove(ran: Command, scratch: Path, sample: Sample) -> Mapping[str, float]:
        del scratch
        assert ran.result is not None, "a pull names its result"
        require_same_tree(pushed.content, ran.result)
        report = json.loads(sample.output)
        return {
            "bytes_received": report["bytes_transferred"],
            "requests": float(sum(report["requests"].values())),
            **_of_pushes(pushed.reports[1:]),
        }

    shown = peer.pull_shown.replace("@v1", f"@{pushed.version}")
    command = partial(stager.pull_version, pushed.version, pushed.place)
    return Contender(name, peer.version, shown, command, prove)


def _of_pushes(reports: Sequence[Mapping[str, Any]]) -> Mapping[str, float]:
    if not reports:
        return {}
    sent = [report["bytes_transferred"] for report in reports]
    return {
        "bytes_least_sent": min(sent),
        "bytes_median_sent": statistics.median(sent),
        "bytes_most_sent": max(sent),
        "bytes_most_read_by_a_push": max(report["bytes_received"] for report in reports),
        "slowest_push_s": max(report["seconds"] for report in reports),
    }


SCENARIO = Scenario(
    name="chain",
    question=f"Is version {VERSIONS} of a dataset, edited every time, still worth reading?",
    comparisons=comparisons,
)
