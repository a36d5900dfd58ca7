"""The ground of the fault matrix: data in a bucket, a proxy before it, and one trial a verb.

A trial is a verb run through the proxy against a state of its own. It ends right, checked
against the bytes that were put there, or with the exit code of one typed error; then the
same verb is run without the proxy and must end right. All else is an AssertionError.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from stager.errors import DigestMismatch, tree
from tests.support import corpus
from tests.support.command import Result, contents
from tests.support.faults.kinds import Fault
from tests.support.faults.proxy import FaultProxy, fault_proxy
from tests.support.faults.rules import Rule
from tests.support.forked import ForkedStager, Zygote, zygote
from tests.support.s3_server import S3Server

RIGHT = "right"
CAUGHT = "later"  # what was taken for true is refused by the next pull
LIMIT_SECONDS = 30.0
CODES = frozenset(kind.exit_code for kind in tree()) - {1}
COLLECT = ("gc", "--delete", "--grace", "0s", "--force")
LARGE = 2_300_000  # more than one range for two connections
ADOPTED = 9_000_000  # more than one block of an adoption


class Caught(Exception):
    """Wrong bytes were read where nothing says which are right; whoever reads again notices."""


class Trial(NamedTuple):
    """A verb against a state that nobody else uses."""

    arguments: tuple[str | Path, ...]
    remote: str
    cache: Path
    check: Callable[[Result], None]  # that it was right
    whole: Callable[[], None]  # that nothing lies after a failure


@dataclass
class Ground:
    """A bucket with data, and the ways to it."""

    server: S3Server
    bucket: str
    folder: Path
    proxy: FaultProxy
    zygote: Zygote
    s3: Any = field(init=False)
    expected: dict[str, bytes] = field(init=False)
    adopted: dict[str, bytes] = field(init=False)
    small: dict[str, bytes] = field(init=False)  # data@v3, where there is garbage
    seconds: float = 0.0  # of the last run through the proxy
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _replaced: dict[str, bytes] = field(default_factory=dict)
    _garbage: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.s3 = _client(self.server)
        _make_source(self.folder / "source")
        self.expected = contents(self.folder / "source")
        self.adopted = _adopted_files()
        for key, data in self.adopted.items():
            self._put(f"plain/{key}", data)
        shared = self.stager("shared", "setup")
        shared.ok("push", self.folder / "source", "data")
        shared.ok("adopt", f"s3://{self.bucket}/plain", "adopted")
        self._garbage = self._made_garbage()

    def stager(self, remote: str, cache: str) -> ForkedStager:
        """Commands without the proxy."""
        url, where = f"s3://{self.bucket}/{remote}", self.folder / "caches" / cache
        environment = {**self.server.environment(), "STAGER_CONNECTIONS": "2"}
        return ForkedStager(url, where, environment, zygote=self.zygote)

    def fresh(self, kind: str) -> str:
        """A name that was not used."""
        return f"{kind}-{next(self._numbers)}"

    def try_(self, verb: str, attempts: int = 6, **variables: str) -> str:
        """Runs a verb through the proxy as it is set; RIGHT, or the exit code as text."""
        trial = VERBS[verb](self)
        faulty = {"AWS_ENDPOINT_URL": self.proxy.endpoint, "STAGER_STALL_SECONDS": "1"}
        faulty |= {"STAGER_ATTEMPTS": str(attempts), **variables}
        stager = ForkedStager(
            trial.remote,
            trial.cache,
            {**self.stager("", "").environment, **faulty},
            zygote=self.zygote,
        )
        began = time.monotonic()
        result = stager.begin(*trial.arguments).wait(LIMIT_SECONDS)
        self.seconds = time.monotonic() - began
        self._restore()
        assert "Traceback" not in result.stderr, result.stderr
        if result.code == 0:
            try:
                trial.check(result)
            except Caught:
                return CAUGHT
            return RIGHT
        assert result.code in CODES, (result.code, result.stderr)
        assert result.stderr.strip(), "no sentence"
        trial.whole()
        again = ForkedStager(
            trial.remote, trial.cache, self.stager("", "").environment, zygote=self.zygote
        )
        trial.check(again.ok(*trial.arguments))
        return str(result.code)

    def object_at(self, path: str) -> bytes:
        """The object at `/bucket/key`, asked of the server itself."""
        key = path.removeprefix(f"/{self.bucket}/")
        return bytes(self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read())

    def replace_object(self, path: str) -> None:
        """Other bytes of the same length, until the trial is over."""
        data = self._replaced.setdefault(path, self.object_at(path))
        changed = bytes(byte ^ 1 for byte in data[:1000]) + data[1000:]
        self._put(path.removeprefix(f"/{self.bucket}/"), changed)

    def _restore(self) -> None:
        for path, data in self._replaced.items():
            self._put(path.removeprefix(f"/{self.bucket}/"), data)
        self._replaced.clear()

    def _put(self, key: str, data: bytes) -> None:
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=data)

    def _made_garbage(self) -> dict[str, bytes]:
        """A remote with one version, and what two others left, by key."""
        stager = self.stager("garbage", "setup")
        for number in range(3):
            source = self.folder / f"small{number}"
            corpus.small_files(source, 12, 500, 3000, seed=number)
            stager.ok("push", source, "data")
            self.small = contents(source)
        stager.ok("rm", "data@v1", "data@v2")
        listed = self.s3.list_objects_v2(Bucket=self.bucket, Prefix="garbage/")["Contents"]
        keys = [each["Key"] for each in listed]
        return {key[8:]: self.object_at(f"/{self.bucket}/{key}") for key in keys}

    def with_garbage(self) -> str:
        """A fresh remote of that kind."""
        remote = self.fresh("gc")
        for key, data in self._garbage.items():
            self._put(f"{remote}/{key}", data)
        return remote


def _pull(ground: Ground, reference: str = "data@v1", plain: bool = False) -> Trial:
    stager = ground.stager("shared", ground.fresh("pull"))
    expected = ground.adopted if plain else ground.expected

    def check(_: Result) -> None:
        assert contents(stager.path(reference)) == expected

    def whole() -> None:
        result = stager.run("path", reference)
        assert result.code == 40 and not result.stdout

    return Trial(("pull", reference), stager.remote, stager.cache, check, whole)


def _pull_adopted(ground: Ground) -> Trial:
    return _pull(ground, "adopted@v1", plain=True)


def _makes_version(
    ground: Ground, arguments: tuple[str | Path, ...], held: Mapping[str, bytes]
) -> Trial:
    """A verb that makes data@v1 in a fresh remote."""
    stager = ground.stager(ground.fresh("push"), ground.fresh("node"))
    verb, source, *options = arguments

    def check(_: Result) -> None:
        assert [each["record"]["version"] for each in stager.json("log", "data")] == ["v1"]
        reader = stager.at(ground.folder / "caches" / ground.fresh("reader"))
        assert contents(Path(reader.json("pull", "data@v1")["path"])) == held

    def whole() -> None:
        log = stager.run("log", "data")
        assert log.code in (0, 31), log.stderr
        if log.code == 0:
            stager.ok("verify", "data@v1", "--in-remote")

    return Trial((verb, source, "data@v1", *options), stager.remote, stager.cache, check, whole)


def _push(ground: Ground) -> Trial:
    return _makes_version(ground, ("push", ground.folder / "source"), ground.expected)


def _push_plain(ground: Ground) -> Trial:
    return _makes_version(ground, ("push", ground.folder / "source", "--plain"), ground.expected)


def _adopt(ground: Ground) -> Trial:
    """Objects that are there already, of which no digest is known but what is read."""
    trial = _makes_version(ground, ("adopt", f"s3://{ground.bucket}/plain"), ground.adopted)
    reader = ForkedStager(
        trial.remote,
        ground.folder / "caches" / ground.fresh("reader"),
        ground.stager("", "").environment,
        zygote=ground.zygote,
    )

    def check(result: Result) -> None:
        if reader.run("pull", "data@v1").code == DigestMismatch.exit_code:
            raise Caught
        trial.check(result)

    return trial._replace(check=check)


def _verify(ground: Ground) -> Trial:
    stager = ground.stager("shared", "verify")

    def check(result: Result) -> None:
        report = result.json()
        assert report["damaged"] == {} and report["bytes_read"] > LARGE

    arguments = ("verify", "data@v1", "--in-remote", "--json")
    return Trial(arguments, stager.remote, stager.cache, check, lambda: None)


def _tag(ground: Ground) -> Trial:
    label = ground.fresh("tag")
    stager = ground.stager("shared", "tag")

    def check(_: Result) -> None:
        assert stager.json("show", f"data@{label}")["version"] == "v1"

    def whole() -> None:
        shown = stager.run("show", f"data@{label}", "--json")
        assert shown.code == 31 or shown.json()["version"] == "v1"

    return Trial(("tag", "data@v1", label), stager.remote, stager.cache, check, whole)


def _gc(ground: Ground) -> Trial:
    stager = ground.stager(ground.with_garbage(), "gc")

    def whole() -> None:
        reader = stager.at(ground.folder / "caches" / ground.fresh("reader"))
        assert contents(Path(reader.json("pull", "data@v3")["path"])) == ground.small

    def check(_: Result) -> None:
        whole()
        assert stager.json(*COLLECT)["objects_freed"] == 0

    return Trial(COLLECT, stager.remote, stager.cache, check, whole)


VERBS: dict[str, Callable[[Ground], Trial]] = {
    "push": _push,
    "push --plain": _push_plain,
    "pull": _pull,
    "pull of adopted": _pull_adopted,
    "adopt": _adopt,
    "verify": _verify,
    "tag": _tag,
    "gc": _gc,
}


def once(ground: Ground, verb: str, fault: Fault, first: int = 1) -> str | None:
    """The outcome with the fault at the `first` request it can befall; None without one."""
    ground.proxy.set(Rule(fault, first=first))
    outcome = ground.try_(verb)
    return outcome if ground.proxy.script.total else None


def always(ground: Ground, verb: str, fault: Fault) -> str | None:
    """The outcome with the fault at every request it can befall; None when it befalls none."""
    ground.proxy.set(Rule(fault, times=None))
    outcome = ground.try_(verb, attempts=3)
    return outcome if ground.proxy.script.total else None


def _client(server: S3Server) -> Any:
    import boto3

    return boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        aws_access_key_id=server.access_key,
        aws_secret_access_key=server.secret_key,
        region_name=server.region,
    )


def _make_source(source: Path) -> None:
    """A large file of noise, records, and small files."""
    source.mkdir(parents=True)
    (source / "large.bin").write_bytes(random.Random(1).randbytes(LARGE))
    corpus.jsonl(source / "train.jsonl", 1_300_000, seed=2)
    corpus.small_files(source / "images", 4, 500, 5000, seed=3)
    (source / "empty").touch()


def _adopted_files() -> dict[str, bytes]:
    dice = random.Random(4)
    sizes = {"a/large.bin": ADOPTED, "b.bin": 70_000, "c": 1, "empty": 0}
    return {name: dice.randbytes(size) for name, size in sizes.items()}


@contextlib.contextmanager
def fault_ground(server: S3Server, bucket: str, folder: Path) -> Iterator[Ground]:
    """The ground, until the block ends."""
    with zygote() as forks, fault_proxy(server.endpoint) as proxy:
        yield Ground(server, bucket, folder, proxy, forks)
