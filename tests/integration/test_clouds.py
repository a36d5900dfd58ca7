"""The verbs on OSS and COS, as a user types them, with the keys that the vendors' tools read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import corpus
from tests.support.clouds.cloud import Cloud
from tests.support.clouds.cos_server import cos_server
from tests.support.clouds.oss_server import oss_server
from tests.support.command import Stager, contents

COS_BUCKET = "data-1250000000"
KEYS = ("OSS_", "COS_", "AWS_")


@dataclass(frozen=True)
class Place:
    """A cloud, a remote in it, and settings under which it is reached."""

    cloud: Cloud
    remote: str
    settings: dict[str, str]

    def stager(self, cache: Path) -> Stager:
        """A node with the vendor's keys, but not those of another vendor."""
        mine = "COS_" if self.remote.startswith("cos") else "OSS_"
        environment = {
            name: value
            for name, value in self.cloud.environment().items()
            if not name.startswith(KEYS) or name.startswith(mine)
        }
        return Stager(self.remote, cache, environment | self.settings)


@pytest.fixture(params=["oss", "cos"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """A cloud, and how a user writes down where the data is."""
    kind = str(request.param)
    with cos_server(racing=True) if kind.startswith("cos") else oss_server() as cloud:
        if kind.startswith("cos"):
            cloud.make_bucket(COS_BUCKET)
            endpoint = {"STAGER_ENDPOINT": "http://cos.ap-guangzhou.myqcloud.com"}
            keys = {"COS_SECRET_ID": cloud.key_id, "COS_SECRET_KEY": cloud.secret}
            scheme = "s3" if kind == "cos-s3" else "cos"
            yield Place(cloud, f"{scheme}://{COS_BUCKET}/team", endpoint | keys)
            return
        cloud.make_bucket("data")
        cloud.domain("data.example.com", "data")
        settings = {
            "oss": {"STAGER_ENDPOINT": "http://oss-cn-hangzhou-internal.aliyuncs.com"},
            "oss-console": {"OSS_ENDPOINT": "http://oss-cn-hangzhou.aliyuncs.com"},
            "oss-domain": {
                "STAGER_ENDPOINT": "http://data.example.com",
                "OSS_REGION": "cn-hangzhou",
            },
        }[kind]
        yield Place(cloud, "oss://data/team", settings)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A few files of every kind."""
    folder = tmp_path / "source"
    folder.mkdir()
    corpus.jsonl(folder / "train.jsonl", 2_000_000, seed=3)
    (folder / "a b+c%.txt").write_bytes("目录".encode())
    (folder / "empty").write_bytes(b"")
    return folder


@pytest.mark.parametrize(
    "place", ["oss", "oss-console", "oss-domain", "cos", "cos-s3"], indirect=True
)
def test_T64_T65_T66_a_version_goes_up_and_comes_down(
    place: Place, source: Path, tmp_path: Path
) -> None:
    stager = place.stager(tmp_path / "cache")
    pushed = stager.ok("push", source, "team/corpus")
    assert ("does not promise" in pushed.stderr) == place.cloud.server_name.startswith("tencent")
    stager.ok("push", source / "train.jsonl", "team/corpus")
    stager.ok("tag", "team/corpus@v1", "prod")
    node = stager.at(tmp_path / "node")
    assert contents(Path(node.json("pull", "team/corpus@prod")["path"])) == contents(source)
    assert [entry["record"]["version"] for entry in node.json("log", "team/corpus")] == ["v2", "v1"]
    stager.ok("verify", "team/corpus@v1", "--in-remote")
    stager.ok("rm", "team/corpus@v2")
    assert [entry["record"]["version"] for entry in node.json("log", "team/corpus")] == ["v1"]
    refused = {seen.status for seen in place.cloud.requests} & {403, 501}
    assert refused == set()


def test_T70_two_pushes_at_once_get_two_numbers(place: Place, source: Path, tmp_path: Path) -> None:
    stager = place.stager(tmp_path / "cache")
    stager.ok("push", source, "corpus")
    nodes = [stager.at(tmp_path / f"node{number}") for number in range(3)]
    running = []
    for number, node in enumerate(nodes):
        other = tmp_path / f"other{number}"
        other.mkdir()
        corpus.jsonl(other / "train.jsonl", 50_000, seed=10 + number)
        running.append((node.start("push", other, "corpus", "--json"), contents(other)))
    for process, _ in running:
        _, stderr = process.communicate(timeout=120)
        assert process.returncode == 0, stderr
    assert {entry["record"]["version"] for entry in stager.json("log", "corpus")} == {
        "v1",
        "v2",
        "v3",
        "v4",
    }
    found = [
        contents(Path(nodes[0].json("pull", f"corpus@v{number}")["path"])) for number in (2, 3, 4)
    ]
    assert sorted(map(str, found)) == sorted(str(wanted) for _, wanted in running)


def test_T17_a_plain_folder_is_adopted(place: Place, tmp_path: Path) -> None:
    bucket = place.cloud.buckets[place.remote.split("/")[2]]
    plain = {"a/1.jsonl": b'{"x":1}\n', "a/2 +%.bin": bytes(range(256)) * 10}
    for name, data in plain.items():
        bucket.put(f"plain/v3/{name}", data, {}, time.time(), forbid=False)
    bucket.put("plain/v3/", b"", {}, time.time(), forbid=False)
    stager = place.stager(tmp_path / "cache")
    stager.ok("adopt", place.remote.replace("/team", "/plain/v3"), "mine")
    assert contents(Path(stager.json("pull", "mine@v1")["path"])) == plain


def test_T68_gc_deletes_what_nothing_refers_to(place: Place, source: Path, tmp_path: Path) -> None:
    stager = place.stager(tmp_path / "cache")
    stager.ok("push", source, "corpus")
    bucket = place.cloud.buckets[place.remote.split("/")[2]]
    names = [f"{number:02x}{number:062x}" for number in range(3)]
    left = [f"team/packs/{name[:2]}/{name}" for name in names]
    for key in left:
        bucket.put(key, b"left by a killed push", {}, time.time() - 30 * 86400, forbid=False)
    report = stager.json("gc", "--delete")
    assert report["objects_freed"] == 3, report
    assert not [key for key in left if key in bucket]
    assert contents(Path(stager.json("pull", "corpus@v1")["path"])) == contents(source)
