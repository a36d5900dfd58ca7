"""Nodes that share a remote, in this process, with constants made small.

So files of some KiB go the ways of large ones, and a test can look at every step.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from stager.cache import span_copies
from stager.events import Advanced, Event
from stager.model import records
from stager.model.names import Reference
from stager.model.record_table import RecordTable
from stager.ops import compare, pack
from stager.ops.pull import PullReport, PullRequest, pull
from stager.ops.push import PushReport, PushRequest, push
from stager.ops.verify import verify
from stager.packs import assembler, source
from stager.workspace import Workspace
from tests.support.command import Stager, contents
from tests.support.edits import Files

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


class Interrupted(Exception):
    """What stops a verb half way."""


class Push(NamedTuple):
    """What is pushed, and what the pusher knows: all drawn."""

    files: Files
    base: int | None  # by number; -1: the latest; None: alone
    staged: bool = True
    indexed: bool = True
    window: int = 10**6
    dead_share: float = 0.2


@contextmanager
def small(window: int = 10**6, dead_share: float = 0.2) -> Iterator[None]:
    """All constants small; a table that sees `window` units at a time."""
    with pytest.MonkeyPatch.context() as patch:
        for module, changes in SMALL.items():
            for name, value in changes.items():
                patch.setattr(module, name, value)
        patch.setattr(compare, "DEAD_SHARE", dead_share)
        patch.setattr(compare, "RecordTable", partial(RecordTable, window=window))
        yield


class Place(NamedTuple):
    """A folder with a remote in it, and nodes that share it."""

    folder: Path

    def node(self, name: str, indexed: bool = True) -> Workspace:
        """A workspace of the node of this name."""
        stager = Stager(str(self.folder / "remote"), self.folder / name)
        found = stager.workspace()
        found.config = replace(found.config, record_index=indexed)
        return found

    def source(self, files: Files) -> Path:
        """A folder that holds these files."""
        root = self.folder / "source"
        shutil.rmtree(root, ignore_errors=True)
        for path, data in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        return root

    def push(self, step: Push, labels: list[str], stops: int | None = None) -> PushReport:
        """Pushes the step, at the second attempt when the first is stopped."""
        base = None
        if step.base is not None and labels:
            base = Reference("data", labels[step.base])
        if not step.staged:
            shutil.rmtree(self.folder / "pusher", ignore_errors=True)
        elif base is not None:
            pull(self.node("pusher"), PullRequest(base))
        root, alone = self.source(step.files), step.base is None
        request = PushRequest(root, Reference("data"), base=base, alone=alone)
        if stops is not None:
            with suppress(Interrupted):
                return push(interrupt(self.node("pusher", step.indexed), stops), request)
        return push(self.node("pusher", step.indexed), request)

    def pull(self, node: str, label: str, stops: int | None = None) -> PullReport:
        """Pulls a version onto a node, at the second attempt when the first is stopped."""
        request = PullRequest(Reference("data", label))
        if stops is not None:
            with suppress(Interrupted):
                pull(interrupt(self.node(node), stops), request)
        return pull(self.node(node), request)

    def check(self, node: str, label: str, expected: Files, stops: int | None = None) -> None:
        """Pulls a version; it must be what was pushed, and be found sound."""
        assert contents(Path(self.pull(node, label, stops).path)) == expected
        report = verify(self.node(node), Reference("data", label))
        assert report.is_sound
        assert report.checked == len(expected)


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
