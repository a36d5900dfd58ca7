"""An edit of what is there already: what crosses the wire, and how long it takes.

1 % of the records are changed at random places, some are left out, some new ones put in. The
tools differ in what they keep: s5cmd replaces the first version, the others keep both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.comparison import Bar, Comparison, Contender, Within
from benchmarks.edits import edited
from benchmarks.holdings import Holding, holdings, newly_stored, refill
from benchmarks.measure import BenchmarkFailed, Command, Sample, measure
from benchmarks.peers.peer import Place
from benchmarks.rounds import Scenario
from benchmarks.stores import STORES
from benchmarks.updaters import ByDvc, ByS5cmd, ByStager, Pair, Updater
from benchmarks.wire import GIGABIT, UNLIMITED, Carried, Wire, wire
from benchmarks.workspace import MEGABYTE, Workspace, require_same_tree
from tests.support.s3_server import S3Server, seaweedfs

SIZE = 256 * MEGABYTE
MOST_SENT = 0.5  # percent of the raw bytes, as the rest
MOST_READ = 1.5
MOST_PULLED = 0.6
WIRES = ((UNLIMITED, "loopback"), (GIGABIT, "1 Gbit/s"))


@dataclass(frozen=True)
class Bout:
    """One tool at its own prefix; `template` is a copy of it that holds the first version."""

    updater: Updater
    pair: Pair
    place: Place
    template: Place


def comparisons(space: Workspace) -> Iterator[Comparison]:
    """Push and pull of the edit, on loopback and through a link of 1 Gbit/s."""
    first = space.jsonl(SIZE)
    pair = Pair(first, edited(first, space.disk / "edit", seed=11))
    with seaweedfs(space.disk / "delta") as server:
        bouts = [_begin(space, server, pair, updater) for updater in _updaters(space)]
        for bits_per_second, where in WIRES:
            with wire(server, bits_per_second) as counted:
                yield _pushes(bouts, counted, where)
                yield _pulls(space, bouts, counted, where)


def _updaters(space: Workspace) -> Iterator[Updater]:
    if space.wants("stager"):
        yield ByStager()
        yield ByStager(staged=False)
    if space.wants("dvc"):
        yield ByDvc(space.disk / "dvc-project")
    if space.wants("s5cmd"):
        yield ByS5cmd()


def _begin(space: Workspace, server: S3Server, pair: Pair, updater: Updater) -> Bout:
    """Publish the first version once; every run gets a copy of it, made by the server."""
    _, as_sent = STORES
    prefix = updater.name.replace(", ", "-").replace(" ", "-")
    place = Place(server, as_sent.make(server), prefix)
    template = dataclasses.replace(place, prefix=f"{prefix}-first")
    with space.fresh("publish") as scratch:
        updater.publish(pair, place, scratch)
    refill(template, place)
    return Bout(updater, pair, place, template)


def _pushes(bouts: Sequence[Bout], counted: Wire, where: str) -> Comparison:
    bars = (
        ("stager", "bytes_sent", MOST_SENT),
        ("stager, base not staged", "bytes_sent", MOST_SENT),
        ("stager, base not staged", "bytes_received", MOST_READ),
    )
    contenders = [partial(_pushing, bout, counted) for bout in bouts]
    return _comparison(f"push of the edit, {where}", bouts, contenders, bars)


def _pulls(space: Workspace, bouts: Sequence[Bout], counted: Wire, where: str) -> Comparison:
    staged = [bout for bout in bouts if bout.updater.name != "stager, base not staged"]
    contenders = [partial(_pulling, space, bout, counted) for bout in staged]
    bars = (("stager", "bytes_received", MOST_PULLED),)
    return _comparison(f"pull of the edit, {where}", bouts, contenders, bars)


def _comparison(
    what: str,
    bouts: Sequence[Bout],
    contenders: Sequence[Callable[[], Contender]],
    bars: Sequence[tuple[str, str, float]],
) -> Comparison:
    raw = bouts[0].pair.raw if bouts else 0
    judged: list[Bar] = [
        Within(name, figure, most, "% of raw", raw / 100) for name, figure, most in bars
    ]
    title = f"{what}: {raw / MEGABYTE:,.0f} MB JSONL, 1 % of the records changed"
    return Comparison(title, raw / MEGABYTE, "MB", contenders, judged, raw=raw)


class _Count:
    """What one run moves: runs are made in turn, so one count at a time is enough."""

    def __init__(self, bout: Bout, counted: Wire) -> None:
        self._place = bout.place
        self._wire = counted
        self._before = Carried(0, 0)
        self._held: Mapping[str, Holding] = {}

    @property
    def far(self) -> Place:
        """The place as timed runs reach it."""
        return dataclasses.replace(self._place, server=self._wire.far)

    def begin(self) -> None:
        """Count from here."""
        self._held = holdings(self._place)
        self._before = self._wire.carried()

    def carried(self) -> Carried:
        """What passed since."""
        now = self._wire.carried()
        return Carried(now.sent - self._before.sent, now.received - self._before.received)

    def stored(self) -> int:
        """Bytes that are at the place and were not."""
        return newly_stored(self._held, holdings(self._place))


def _pushing(bout: Bout, counted: Wire) -> Contender:
    """The edit sent to a place that holds the first version, proven by fetching it back."""
    updater, count = bout.updater, _Count(bout, counted)

    def command(scratch: Path) -> Command:
        refill(bout.place, bout.template)
        ready = updater.push(bout.pair, bout.place, count.far, scratch)
        count.begin()
        return ready

    def prove(ran: Command, scratch: Path, sample: Sample) -> Mapping[str, float]:
        del ran
        carried, stored = count.carried(), count.stored()
        if not stored:
            raise BenchmarkFailed(f"{updater.name}: stored nothing, so the edit was there before")
        back = scratch / "back"
        back.mkdir()
        fetch = updater.fetch(bout.place, back)
        assert fetch.result is not None, "a fetch names its result"
        measure(fetch, back)
        require_same_tree(bout.pair.edit, fetch.result)
        told = updater.check(sample, carried)
        return {**_figures(carried), "bytes_stored": float(stored), **told}

    return Contender(updater.name, updater.peer.version, updater.push_shown, command, prove)


def _pulling(space: Workspace, bout: Bout, counted: Wire) -> Contender:
    """The edit fetched from a place that holds both versions, where the tool keeps both."""
    updater, count = bout.updater, _Count(bout, counted)
    refill(bout.place, bout.template)
    with space.fresh("publish") as scratch:
        measure(updater.push(bout.pair, bout.place, bout.place, scratch), scratch)

    def command(scratch: Path) -> Command:
        ready = updater.pull(bout.pair, bout.place, count.far, scratch)
        count.begin()
        return ready

    def prove(ran: Command, scratch: Path, sample: Sample) -> Mapping[str, float]:
        del scratch
        carried = count.carried()
        assert ran.result is not None, "a pull names its result"
        require_same_tree(bout.pair.edit, ran.result)
        return {**_figures(carried), **updater.check(sample, carried)}

    return Contender(updater.name, updater.peer.version, updater.pull_shown, command, prove)


def _figures(carried: Carried) -> dict[str, float]:
    return {"bytes_sent": float(carried.sent), "bytes_received": float(carried.received)}


SCENARIO = Scenario(
    name="delta",
    question="What does it cost to bring an edit to the store, and to a node that has the rest?",
    comparisons=comparisons,
)
