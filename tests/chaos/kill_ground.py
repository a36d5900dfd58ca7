"""The ground of the kill matrix: a remote and a cache made once and laid out anew for each point.

An act is a verb that writes, with what must hold when it has died somewhere: every version
that is listed is whole, those that were there before are there, and a staged version is the
right one. Then the same verb is run again and must end right.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stager.catalog import versions
from stager.errors import tree
from stager.model.names import parse_reference
from stager.ops.verify import verify_remote
from tests.support import corpus
from tests.support.command import Result, contents
from tests.support.foreign import FIRST, hub_local_dir
from tests.support.forked import ForkedStager, Zygote
from tests.support.traps import DIED

Held = dict[str, dict[str, bytes]]  # files of versions, by reference

CODES = frozenset(kind.exit_code for kind in tree()) - {1}
NOT_STAGED = 40
COLLECT = ("gc", "--delete", "--grace", "0s", "--force")


@dataclass(frozen=True)
class Act:
    """A verb that writes: its words, and what it changes in the remote or on the node."""

    words: tuple[str, ...]  # of the command; {folder} is the ground's
    makes: str = ""  # the version that exists afterwards
    of: str = ""  # and the source folder it was made of
    removes: str = ""
    tags: tuple[str, str] | None = None  # a tag and its version; an empty one: none
    stages: str = ""  # the version on the node afterwards
    before: tuple[tuple[str, ...], ...] = ()  # commands that make ready
    may_be_gone: str = ""  # what a killed run may have removed; `pull` is what its hint says


ACTS = {
    "push": Act(("push", "{folder}/sources/fresh", "fresh"), "fresh@v1", "fresh"),
    "push of a delta": Act(("push", "{folder}/sources/edited", "data"), "data@v3", "edited"),
    "push of a delta, base staged": Act(
        ("push", "{folder}/sources/edited", "data"),
        "data@v3",
        "edited",
        before=(("pull", "data@v2"),),
    ),
    "push --plain": Act(("push", "{folder}/sources/fresh", "new", "--plain"), "new@v1", "fresh"),
    "push as a label": Act(("push", "{folder}/sources/fresh", "new@blue"), "new@blue", "fresh"),
    "adopt": Act(("adopt", "{folder}/sources/first", "taken"), "taken@v1", "first"),
    "import": Act(("import", "--hf", "{folder}/sources/hub", "hub"), "hub@v1", "hub files"),
    "tag": Act(("tag", "data@v2", "prod"), tags=("prod", "v2")),
    "tag --delete": Act(("tag", "data", "prod", "--delete"), tags=("prod", "")),
    "rm": Act(("rm", "data@v2"), removes="data@v2"),
    "rm --force": Act(("rm", "data@v1", "--force"), removes="data@v1", tags=("prod", "")),
    "gc": Act(COLLECT),
    "pull": Act(("pull", "data@v2"), stages="data@v2"),
    "pull of a delta": Act(("pull", "data@v2"), stages="data@v2", before=(("pull", "data@v1"),)),
    "pull of adopted": Act(("pull", "trusted@v1"), stages="trusted@v1"),
    "pull to a folder": Act(("pull", "data@v2", "{folder}/out"), stages="data@v2"),
    "verify --repair": Act(
        ("verify", "data@v1", "--repair"), stages="data@v1", may_be_gone="data@v1"
    ),
    "cache rm": Act(
        ("cache", "rm", "data@v1"), before=(("pull", "data@v1"),), may_be_gone="data@v1"
    ),
    "cache prune": Act(
        ("cache", "prune"), before=(("pull", "data@v1"), ("pull", "data@v2"), ("pull", "kept"))
    ),
}
READS = frozenset({"cache rm", "cache prune"})  # acts that ask no store


@dataclass
class KillGround:
    """A folder with sources, a remote, a cache, and the state they are laid out in."""

    folder: Path
    zygote: Zygote
    held: Held = field(default_factory=dict)

    def __post_init__(self) -> None:
        _make_sources(self.folder / "sources")
        stager = self.stager
        for number, name in enumerate(("first", "second"), 1):
            stager.ok("push", self.folder / "sources" / name, "data")
            self.held[f"data@v{number}"] = self._source(name)
        stager.ok("push", self.folder / "sources" / "second", "kept", "--plain")
        self.held["kept@v1"] = self._source("second")
        stager.ok("adopt", self.folder / "sources" / "first", "trusted", "--no-hash")
        self.held["trusted@v1"] = self._source("first")
        for name in ("gone", "edited"):
            stager.ok("push", self.folder / "sources" / name, "garbage", "--base", "none")
        stager.ok("rm", "garbage@v1", "garbage@v2")
        stager.ok("tag", "data@v1", "prod")
        shutil.copytree(self.folder / "remote", self.folder / "template")

    @property
    def stager(self) -> ForkedStager:
        """Commands on this remote and cache; few threads, for steps in nearly one order."""
        environment = {f"STAGER_{name}": "2" for name in ("CONNECTIONS", "ENCODERS", "UPLOADS")}
        environment["STAGER_BUDGET"] = "50kB"  # less than two versions, more than empty folders
        remote, cache = self.folder / "remote", self.folder / "cache"
        return ForkedStager(str(remote), cache, environment, zygote=self.zygote)

    def lay_out(self, act: Act) -> None:
        """The state before the act."""
        for name in ("remote", "cache", "out"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        shutil.copytree(self.folder / "template", self.folder / "remote")
        for words in act.before:
            self._stager_without_budget().ok(*words)
        shutil.rmtree(self.folder / "cache/locks/leases", ignore_errors=True)  # the zygote's own
        if "--repair" in act.words:
            self._damage()

    def strike(self, name: str, trap: str) -> str:
        """Runs the act into the trap, then again; how it ended first, empty when unharmed."""
        act = ACTS[name]
        self.lay_out(act)
        words = [word.format(folder=self.folder) for word in act.words]
        stager = self._stager_without_budget() if name != "cache prune" else self.stager
        running = stager.begin(*words, trap=trap, folder=str(self.folder))
        result = running.wait()
        sprung = running.sprung
        self._check_end(result, trap)
        self.check_whole(act)
        if not sprung:
            self._check_done(act, result)
            return ""
        if act.may_be_gone and stager.run("path", act.may_be_gone).code == NOT_STAGED:
            words = ["pull", act.may_be_gone]
        self._check_done(act, stager.ok(*words))
        return str(result.code)

    def _stager_without_budget(self) -> ForkedStager:
        stager = self.stager
        return ForkedStager(stager.remote, stager.cache, {}, zygote=self.zygote)

    def _check_end(self, result: Result, trap: str) -> None:
        assert "Traceback" not in result.stderr, f"{trap}: {result.stderr}"
        assert result.code in CODES | {0, DIED}, f"{trap}: {result}"

    def check_whole(self, act: Act) -> None:
        """Nothing lies, wherever the act ended."""
        workspace = self.stager.workspace()
        there = set()
        for name in versions.datasets(workspace.remote):
            for label in versions.labels(workspace.remote, name):
                reference = f"{name}@{label}"
                there.add(reference)
                assert verify_remote(workspace, parse_reference(reference)).is_sound, reference
        assert self.held.keys() - {act.removes} <= there
        assert there <= self.held.keys() | {act.makes}
        if act.stages:
            self._check_staged(act, must=False)

    def _check_staged(self, act: Act, must: bool) -> None:
        shown = self.stager.run("path", act.stages)
        if shown.code == 0 and not ("--repair" in act.words and not must):
            assert contents(Path(shown.stdout.strip())) == self.held[act.stages]
        else:
            assert not must, shown.stderr
        out = self.folder / "out"
        if out.exists():
            assert contents(out) == self.held[act.stages]

    def _check_done(self, act: Act, result: Result) -> None:
        """The act did what it is for."""
        assert result.code == 0, result.stderr
        self.check_whole(act)
        stager, workspace = self.stager, self.stager.workspace()
        if act.makes:
            name, _, label = act.makes.partition("@")
            expected = [
                *(each.partition("@")[2] for each in self.held if each.startswith(f"{name}@"))
            ]
            assert versions.labels(workspace.remote, name) == [*expected, label]
            assert self._pulled(act.makes) == self._source(act.of)
        if act.removes:
            assert "was removed" in stager.run("show", act.removes).stderr
        if act.tags:
            tag, version = act.tags
            shown = stager.run("show", f"data@{tag}", "--json")
            assert (shown.json()["version"] if shown.code == 0 else "") == version
        if act.stages:
            self._check_staged(act, must=True)
        if act.words == COLLECT:
            assert stager.json(*COLLECT)["objects_freed"] == 0
        assert self._pulled("data@v1" if act.removes != "data@v1" else "kept@v1")

    def _pulled(self, reference: str) -> Mapping[str, bytes]:
        """The version on a fresh node."""
        cache = self.folder / "reader"
        shutil.rmtree(cache, ignore_errors=True)
        reader = self._stager_without_budget().at(cache)
        found = contents(Path(reader.json("pull", reference)["path"]))
        if reference in self.held:
            assert found == self.held[reference]
        return found

    def _source(self, name: str) -> dict[str, bytes]:
        return contents(self.folder / "sources" / name)

    def _damage(self) -> None:
        """`data@v1` staged with one file of other bytes, though of the same size and time."""
        import os

        self._stager_without_budget().ok("pull", "data@v1")
        path = self._stager_without_budget().path("data@v1") / "train.jsonl"
        facts = path.stat()
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.chmod(0o644)
        path.write_bytes(data)
        path.chmod(0o444)
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def _make_sources(folder: Path) -> None:
    """first -> second -> edited are edits of one another; gone and fresh are new."""
    for seed, name in enumerate(("first", "gone", "fresh")):
        (folder / name).mkdir(parents=True)
        corpus.jsonl(folder / name / "train.jsonl", 1_200_000, seed=seed)
        corpus.small_files(folder / name / "images", 4, 300, 2000, seed=seed)
        (folder / name / "empty").touch()
    for seed, (old, new) in enumerate((("first", "second"), ("second", "edited"))):
        shutil.copytree(folder / old, folder / new)
        corpus.edit_jsonl(
            folder / old / "train.jsonl", folder / new / "train.jsonl", seed, 0.02, 3, 3
        )
        (folder / new / "images" / f"new{seed}").write_bytes(random.Random(seed).randbytes(900))
    files = contents(folder / "first")
    hub_local_dir(folder / "hub", files, FIRST)
    shutil.copytree(folder / "first", folder / "hub files")


def until_unharmed(strike: Callable[[int], str]) -> list[str]:
    """Strikes at step 1, 2, 3 ... until the act ends before its trap; how each ended."""
    ends = []
    while end := strike(len(ends) + 1):
        ends.append(end)
        assert len(ends) < 2000
    return ends
