"""T58 T60: keys that are replaced while a transfer runs, by a role that issues new ones."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import corpus
from tests.support.clouds.cloud import Cloud
from tests.support.clouds.cos_server import cos_server
from tests.support.clouds.oss_server import oss_server
from tests.support.command import Stager, contents
from tests.support.identity import Cloud as Identity
from tests.support.identity import identity_server
from tests.support.relay import slow_link

EVERY_SECONDS = 0.7  # a new token, and the end of the one before
BITS_PER_SECOND = 60e6
FILES, BYTES = 80, 300_000  # three seconds on that link


@contextlib.contextmanager
def rotating(
    cloud: Cloud, identity: Identity, home: Path, end: Callable[[str], None]
) -> Iterator[list[str]]:
    """Issues a token after the other, to a service and to a file, ends the last; all ids."""
    issued: list[str] = []
    stop = threading.Event()
    file = home / ".tccli" / "default.credential"
    file.parent.mkdir()

    def issue() -> None:
        key, secret, token = cloud.issue_token(3600)
        identity.key_id, identity.secret, identity.token = key, secret, token
        aside = file.with_suffix(".new")
        aside.write_text(json.dumps({"secretId": key, "secretKey": secret, "token": token}))
        aside.rename(file)
        if issued:
            end(issued[-1])
        issued.append(key)

    def run() -> None:
        while not stop.wait(EVERY_SECONDS):
            issue()

    issue()
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield issued
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("vendor", ["oss", "cos"])
def test_T58_T60_a_rotation_in_a_transfer_costs_no_failure(vendor: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for number in range(FILES):
        corpus.incompressible(source / f"{number:02}.bin", BYTES, seed=number)
    made = oss_server() if vendor == "oss" else cos_server()
    with made as cloud, identity_server() as identity, slow_link(cloud.port, BITS_PER_SECOND) as by:
        bucket = cloud.make_bucket("data" if vendor == "oss" else "data-1250000000")
        host = {"oss": "oss-cn-hangzhou.aliyuncs.com", "cos": "cos.ap-guangzhou.myqcloud.com"}
        environment = {
            "http_proxy": by.endpoint,
            "no_proxy": "127.0.0.1",
            "STAGER_ENDPOINT": f"http://{host[vendor]}",
            "STAGER_CONNECTIONS": "3",
            "ALIBABA_CLOUD_CREDENTIALS_URI": f"{identity.url}/uri",
            "HOME": str(tmp_path),
        }
        stager = Stager(f"{vendor}://{bucket}/team", tmp_path / "cache", environment)
        node = stager.at(tmp_path / "node")
        end = cloud.keyring.expire if vendor == "oss" else cloud.revoke
        with rotating(cloud, identity, tmp_path, end) as issued:
            stager.ok("push", source, "corpus", "--plain")
            pushed, asked = len(issued), len(cloud.requests)
            pulled = node.json("pull", "corpus@v1")
        refused = [seen.status in (400, 403) for seen in cloud.requests]
    assert contents(Path(pulled["path"])) == contents(source)
    assert pushed >= 3
    assert len(issued) - pushed >= 3
    assert any(refused[:asked]), "no token was refused: this has shown nothing"
    assert any(refused[asked:]), "no token was refused: this has shown nothing"
    receipts = json.dumps([path.read_text() for path in node.cache.rglob("*.json")])
    assert not any(key_id in receipts for key_id in issued)
