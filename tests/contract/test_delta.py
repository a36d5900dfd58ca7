"""Whatever is edited and whatever is known of the base, every version is what was pushed.

Constants are made small, so that files of some KiB go the ways of large ones.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stager.cache import span_copies
from stager.catalog import placements, versions
from stager.events import Advanced, Event
from stager.model import records
from stager.model.names import Reference
from stager.model.record_table import RecordTable
from stager.ops import compare, pack, recall
from stager.ops.pull import PullRequest, pull
from stager.ops.push import PushReport, PushRequest, push
from stager.ops.verify import verify, verify_remote
from stager.packs import assembler, source
from stager.workspace import Workspace
from tests.support.command import Stager, contents

KiB = 1024
SMALL = {
    records: {
        "MIN_FRAME": KiB,
        "MAX_FRAME": 8 * KiB,
        "_COIN": 2**64 // KiB,
        "WHOLE_UNIT": 96,
        "_UNIT_COIN": 2**64 // 96,
        "MAX_UNIT": KiB,
    },
    source: {"MAX_FRAME": 8 * KiB, "READ_BYTES": 3 * KiB, "SMALL_FILE": 2 * KiB},
    pack: {"MAX_FRAME": 8 * KiB, "MIN_FRAME": KiB, "SMALL_FILE": 2 * KiB},
    assembler: {"FIRST_BYTES": 2 * KiB, "PACK_BYTES": 8 * KiB},
    span_copies: {"BLOCK_BYTES": 512},
    compare: {"SLICES_SHARE": 1.0},
}

Files = dict[str, bytes]


class Interrupted(Exception):
    """What stops a verb half way."""


class Push(NamedTuple):
    """What is pushed, and what the pusher knows: all drawn."""

    files: Files
    base: int | None  # -1: the latest; None: alone
    staged: bool
    indexed: bool
    window: int
    dead_share: float


@contextmanager
def small(window: int, dead_share: float) -> Iterator[None]:
    """All constants small; a table that sees `window` units at a time."""
    with pytest.MonkeyPatch.context() as patch:
        for module, changes in SMALL.items():
            for name, value in changes.items():
                patch.setattr(module, name, value)
        patch.setattr(compare, "DEAD_SHARE", dead_share)
        patch.setattr(compare, "RecordTable", partial(RecordTable, window=window))
        yield


def record(rng: random.Random) -> bytes:
    """One line: empty, short, middling or several KiB; sometimes with CRLF."""
    length = rng.choice([0, 3, 40, 90, 200, 600, 5 * KiB])
    letters = rng.choice([b"a", b"abcdefghijklmnop", bytes(range(32, 127))])
    return bytes(rng.choices(letters, k=length)) + rng.choice([b"\n", b"\n", b"\n", b"\r\n"])


def new_file(rng: random.Random, pool: list[bytes]) -> bytes:
    """Records of the pool and new ones; or a little binary, or nothing."""
    kind = rng.random()
    if kind < 0.1:
        return rng.randbytes(rng.choice([1, 500, 9 * KiB]))
    if kind < 0.15:
        return b""
    lines = [rng.choice(pool) if rng.random() < 0.4 else record(rng) for _ in range(rng.choice([1, 8, 40]))]
    return b"".join(lines) + rng.choice([b"", b"", b"no newline at the end"])


def edited(files: Files, rng: random.Random, pool: list[bytes]) -> Files:
    """One edit of one or two files."""
    after = dict(files)
    name, other = rng.choice(sorted(files)), rng.choice(sorted(files))
    lines = files[name].splitlines(keepends=True)
    start, end = sorted((rng.randint(0, len(lines)), rng.randint(0, len(lines))))
    run = lines[start:end]
    match rng.choice(EDITS):
        case "insert":
            lines[start:start] = [record(rng) for _ in range(rng.randint(1, 3))]
        case "delete":
            del lines[start:end]
        case "duplicate":
            lines[end:end] = run
        case "move":
            del lines[start:end]
            after[other] = b"".join(run) + (b"".join(lines) if other == name else files[other])
            name = "" if other == name else name
        case "shuffle":
            rng.shuffle(run)
            lines[start:end] = run
        case "join":
            lines = [files[name], files[other]]
        case "swap":
            lines, after[other] = [files[other]], files[name]
        case "rename":
            after[f"{rng.choice(['a', 'm', 'z'])}/{rng.randint(0, 99)}"] = after.pop(name)
            name = ""
        case "truncate":
            lines = [files[name][: rng.randint(0, len(files[name]))]]
        case "add":
            after[f"new-{rng.randint(0, 9)}"] = new_file(rng, pool)
            name = ""
        case "flip":
            data = bytearray(files[name] or b"x")
            data[rng.randrange(len(data))] ^= 1
            lines = [bytes(data)]
    if name:
        after[name] = b"".join(lines)
    return after


EDITS = (
    "insert insert delete duplicate move shuffle join swap rename truncate add flip"
).split()


@st.composite
def histories(draw: st.DrawFn) -> list[Push]:
    """A corpus and two to five edits of it, each with the circumstances of its push."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    pool = [record(rng) for _ in range(6)]
    files = {f"{at}.jsonl": new_file(rng, pool) for at in range(draw(st.integers(1, 4)))}
    history = []
    for number in range(draw(st.integers(3, 6))):
        if number:
            for _ in range(draw(st.integers(1, 3))):
                files = edited(files, rng, pool)
        base = draw(st.one_of(st.just(-1), st.none(), st.integers(0, max(0, number - 1))))
        history.append(
            Push(
                files,
                base if number else -1,
                staged=draw(st.booleans()),
                indexed=draw(st.booleans()),
                window=draw(st.sampled_from([1, 7, 40, 10**6])),
                dead_share=draw(st.sampled_from([0.0, 0.2, 1.0])),
            )
        )
    return history


class Place(NamedTuple):
    """A folder with a remote in it, and nodes that share it."""

    folder: Path

    def node(self, name: str, indexed: bool = True) -> Workspace:
        """A workspace of the node of this name."""
        stager = Stager(str(self.folder / "remote"), self.folder / name)
        found = stager.workspace()
        found.config = replace(found.config, record_index=indexed)
        return found

    def push(self, step: Push, labels: list[str]) -> PushReport:
        """Pushes the step from a fresh folder."""
        shutil.rmtree(self.folder / "source", ignore_errors=True)
        for path, data in step.files.items():
            target = self.folder / "source" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        base = None
        if step.base is not None and labels:
            base = Reference("data", labels[step.base])
            if step.staged:
                pull(self.node("pusher"), PullRequest(base))
        request = PushRequest(
            self.folder / "source", Reference("data"), base=base, alone=step.base is None
        )
        if not step.staged:
            shutil.rmtree(self.folder / "pusher", ignore_errors=True)
        return push(self.node("pusher", step.indexed), request)


def interrupt(workspace: Workspace, after: int) -> Workspace:
    """Stops what it does after some steps."""
    left = [after]

    def listen(event: Event) -> None:
        if isinstance(event, Advanced):
            left[0] -= 1
            if left[0] < 0:
                raise Interrupted

    workspace.listener = listen
    return workspace


def check(place: Place, name: str, label: str, expected: Files, stops: int | None = None) -> None:
    """Pulls a version onto a node, at the second attempt when the first is stopped."""
    request = PullRequest(Reference("data", label))
    if stops is not None:
        with suppress(Interrupted):
            pull(interrupt(place.node(name), stops), request)
    folder = Path(pull(place.node(name), request).path)
    assert contents(folder) == expected
    report = verify(place.node(name), request.reference)
    assert report.is_sound
    assert report.checked == len(expected)


@settings(max_examples=10)
@given(histories(), st.randoms(use_true_random=False))
def test_every_version_is_what_was_pushed(history: list[Push], order: random.Random) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place, labels, pushed = Place(Path(folder)), [], dict[str, Files]()
        for step in history:
            with small(step.window, step.dead_share):
                report = place.push(step, labels)
            labels.append(report.version)
            assert pushed.setdefault(report.version, step.files) == step.files
        with small(10**6, 0.2):
            for label, files in pushed.items():
                check(place, f"fresh-{label}", label, files)
                assert verify_remote(place.node("any"), Reference("data", label)).is_sound
            again = sorted(pushed)
            order.shuffle(again)
            for label in again:
                check(place, "shared", label, pushed[label], order.choice([None, 0, 1, 3]))
