"""kill -9 at random moments of gc and rm, and pushes beside gc: no version loses a byte.

K60: garbage collection never deletes what is not proven to be garbage.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import pytest

from stager.catalog import versions
from stager.errors import Cancelled
from stager.model.names import parse_reference
from stager.ops.gc import GcRequest, gc
from stager.ops.rm import RmRequest, rm
from stager.ops.verify import verify_remote
from stager.storage.resilient import Wrapper
from stager.storage.store import ObjectStore
from stager.workspace import Workspace
from tests.integration.test_gc import NOW, age
from tests.integration.test_push import make
from tests.support import corpus
from tests.support.command import Stager, contents
from tests.support.moments import Moments

T = TypeVar("T")

VERSIONS = 12
ROUNDS = 4


def push_all(stager: Stager, source: Path) -> dict[str, dict[str, bytes]]:
    """Versions of which each shares frames with the one before; what each holds."""
    dice, held = random.Random(1), {}
    corpus.small_files(source, 150, 2000, 6000, seed=2)
    files = sorted(path for path in source.rglob("*") if path.is_file())
    for number in range(1, VERSIONS + 1):
        for path in dice.sample(files, 40):
            path.write_bytes(dice.randbytes(3000))
        stager.ok("push", source, "data")
        held[f"data@v{number}"] = contents(source)
    return held


def check(stager: Stager, held: dict[str, dict[str, bytes]]) -> set[str]:
    """Every version that is listed is whole; those that are."""
    workspace = stager.workspace()
    labels = versions.labels(workspace.remote, "data")
    for label in labels:
        if f"data@{label}" in held:
            assert verify_remote(workspace, parse_reference(f"data@{label}")).is_sound
    return {f"data@{label}" for label in labels}


@pytest.mark.parametrize("kind", ["local", "on_s3"])
def test_K60_kill_of_gc(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    stager: Stager = request.getfixturevalue(kind)
    source = tmp_path / "source"
    source.mkdir()
    held = push_all(stager, source)
    began = time.perf_counter()
    stager.ok("gc", "--grace", "0s", "--force")
    whole = time.perf_counter() - began
    moments = Moments(3, whole, 0.3)
    order = list(held)
    random.Random(3).shuffle(order)
    for reference in order[: VERSIONS - 2]:
        stager.ok("rm", reference)
        del held[reference]
        process = stager.start(*NOW)
        time.sleep(moments.next())
        process.kill()
        process.communicate()
        moments.hit(process.returncode != 0)
        assert check(stager, held) == held.keys()
    stager.ok(*NOW)
    assert stager.json("gc", "--grace", "0s", "--force")["objects_freed"] == 0
    for reference, expected in held.items():
        node = stager.at(tmp_path / reference)
        node.ok("pull", reference)
        assert contents(node.path(reference)) == expected
    moments.require(2)


@pytest.mark.parametrize("kind", ["local", "on_s3"])
def test_K60_kill_of_rm(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    stager: Stager = request.getfixturevalue(kind)
    source = tmp_path / "source"
    source.mkdir()
    held = push_all(stager, source)
    began = time.perf_counter()
    stager.ok("rm", "data@v1")
    whole = time.perf_counter() - began
    del held["data@v1"]
    moments = Moments(4, whole, 0.3)
    for number in range(2, VERSIONS, 3):
        gone = [f"data@v{number + step}" for step in range(3) if number + step < VERSIONS]
        process = stager.start("rm", *gone)
        time.sleep(moments.next())
        process.kill()
        process.communicate()
        moments.hit(process.returncode != 0)
        there = check(stager, held)
        for reference in gone:  # whole, or removed and said to be
            if reference not in there:
                assert "was removed" in stager.run("show", reference).stderr
        stager.ok("rm", *gone)
        for reference in gone:
            del held[reference]
        assert check(stager, held) == held.keys()
    assert held.keys() == {f"data@v{VERSIONS}"}
    make(source, {"more": b"1"})
    assert stager.ok("push", source, "data").stdout == f"data@v{VERSIONS + 1}\n"
    moments.require(1)


class Dying(Wrapper):
    """A store whose user dies in the middle of the n-th request that changes something."""

    def __init__(self, inner: ObjectStore, steps: int) -> None:
        super().__init__(inner)
        self.steps = steps

    def around(self, kind: str, key: str, call: Callable[[], T], sent: int = 0) -> T:
        """Before it is sent."""
        if kind == "put":
            self._step()
        return call()

    def delete(self, keys: Iterable[str]) -> None:
        """When half of the keys are gone, and before the first."""
        batch = list(keys)
        self._step()
        self.inner.delete(batch[: len(batch) // 2])
        self._step()
        self.inner.delete(batch)

    def _step(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise Cancelled


def dies(stager: Stager, act: Callable[[Workspace], object], steps: int) -> bool:
    """Whether the verb died at that step, and did not end before."""
    workspace = stager.workspace()
    original = Workspace.store

    def store(self: Workspace, url: str) -> ObjectStore:
        return dying if url == workspace.remote_url else original(self, url)

    dying = Dying(workspace.remote, steps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Workspace, "store", store)
        try:
            act(workspace)
        except Cancelled:
            return True
    return False


def test_K60_gc_and_rm_that_end_at_any_step(local: Stager, tmp_path: Path) -> None:
    """Step after step, both verbs, on one remote: what is listed is whole all the time."""
    source = tmp_path / "source"
    source.mkdir()
    held = push_all(local, source)
    request = GcRequest(0, force=True)

    def collect(workspace: Workspace) -> object:
        return gc(workspace, request, dry_run=False)

    for number in (3, 7, 1, VERSIONS):
        reference = f"data@v{number}"

        def remove(workspace: Workspace, reference: str = reference) -> object:
            return rm(workspace, RmRequest([parse_reference(reference)]))

        for act in (remove, collect):
            deaths = 0
            while dies(local, act, deaths):
                deaths += 1
                assert check(local, held) - {reference} == held.keys() - {reference}
            assert deaths >= 3
            if act is remove:
                del held[reference]
        assert check(local, held) == held.keys()
    assert local.json("gc", "--grace", "0s", "--force")["objects_freed"] == 0


@pytest.mark.parametrize("options", [(), ("--plain",)], ids=["packs", "plain"])
def test_K60_a_push_of_what_gc_is_deleting(
    local: Stager, tmp_path: Path, options: tuple[str, ...]
) -> None:
    """Its objects lie there, unreferenced and old, and gc runs again and again meanwhile."""
    source = tmp_path / "source"
    source.mkdir()
    corpus.small_files(source, 60, 2000, 20_000, seed=5)
    local.ok("push", source, "data", *options)
    for number in range(1, ROUNDS + 1):
        local.ok("rm", f"data@v{number}")
        age(local)
        pushing = local.start("push", source, "data", *options)
        time.sleep(random.Random(number).uniform(0.0, 0.3))
        while pushing.poll() is None:
            local.ok("gc", "--delete", "--grace", "2h")
        stdout, stderr = pushing.communicate()
        if pushing.returncode != 0:  # said, not hidden: then it is repeated
            assert "garbage" in stderr or "the write was answered, and is not there" in stderr
            stdout = local.ok("push", source, "data", *options).stdout
        assert stdout == f"data@v{number + 1}\n"
        local.ok("verify", f"data@v{number + 1}", "--in-remote")


def test_K60_pushes_beside_gc_with_a_grace_just_longer_than_a_push(
    stager: Stager, tmp_path: Path
) -> None:
    """New content on a base, while garbage of other pushes is swept around it."""
    for number in range(ROUNDS):
        sources = []
        for which in ("one", "two"):
            source = tmp_path / which
            source.mkdir(exist_ok=True)
            corpus.small_files(source / str(number), 40, 2000, 9000, seed=number)
            (source / "own").write_bytes(os.urandom(50_000))
            sources.append(source)
        running = [stager.start("push", each, each.name, "--json") for each in sources]
        while any(process.poll() is None for process in running):
            stager.ok("gc", "--delete", "--grace", "60s", "--force")
        ends = [process.communicate() for process in running]
        assert [process.returncode for process in running] == [0, 0], ends
        for source in sources:
            stager.ok("verify", f"{source.name}@v{number + 1}", "--in-remote")
