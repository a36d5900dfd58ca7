"""Contenders of the two kinds nearly every scenario has: fetch a tree, send a tree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.comparison import Contender
from benchmarks.measure import Command, Sample, measure
from benchmarks.peers.peer import Peer, Place
from benchmarks.workspace import require_same_tree
from tests.support.s3_server import S3Server


def pulling(peer: Peer, place: Place, source: Path) -> Contender:
    """The peer fetching what lies at `place`, proven equal to `source` after every run."""

    def prove(command: Command, scratch: Path, sample: Sample) -> Mapping[str, float]:
        del scratch, sample
        assert command.result is not None, "a pull names its result"
        require_same_tree(source, command.result)
        return {}

    return Contender(
        name=peer.name,
        version=peer.version,
        shown=peer.pull_shown,
        command=lambda scratch: peer.pull(place, scratch),
        prove=prove,
    )


def pushing(peer: Peer, server: S3Server, bucket: str, source: Path) -> Contender:
    """The peer sending `source` to a prefix of its own every run, proven by fetching it back."""

    def place_of(scratch: Path) -> Place:
        return Place(server, bucket, f"push/{source.name}/{scratch.name}")

    def prove(command: Command, scratch: Path, sample: Sample) -> Mapping[str, float]:
        del command, sample
        back = scratch / "back"
        back.mkdir()
        fetch = peer.pull(place_of(scratch), back)
        assert fetch.result is not None, "a pull names its result"
        measure(fetch, back)
        require_same_tree(source, fetch.result)
        return {}

    return Contender(
        name=peer.name,
        version=peer.version,
        shown=peer.push_shown,
        command=lambda scratch: peer.push(source, place_of(scratch), scratch),
        prove=prove,
    )


def upload(peer: Peer, source: Path, place: Place, scratch: Path) -> None:
    """Send `source` to `place` untimed."""
    measure(peer.push(source, place, scratch), scratch)
