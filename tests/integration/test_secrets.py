"""Secrets planted in every place are found in no output, no file and no object.

The stores are a cloud that accepts, whose tokens are real, and a server that refuses
everything and quotes what it was sent.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from stager import config
from stager.cli import app
from stager.errors import StagerError
from stager.storage import connect
from stager.workspace import Workspace
from tests.support.clouds.oss_server import oss_server
from tests.support.command import contents
from tests.support.echo_server import Echo, echo_server
from tests.support.identity import Cloud, identity_server
from tests.support.planted import MARK, commands, planted, variables

# Where everything succeeds


def test_nothing_is_told_where_everything_succeeds(
    planted_home: Path,
    little: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with oss_server() as cloud:
        cloud.make_bucket("data")
        key_id, secret, token = cloud.issue_token(3600)
        environment = {
            **{name: text for name, text in cloud.environment().items() if "proxy" in name.lower()},
            **variables("AWS", "ALIBABA", "COS", "TENCENT"),
            "OSS_ACCESS_KEY_ID": key_id,
            "OSS_ACCESS_KEY_SECRET": secret,
            "OSS_SESSION_TOKEN": token,
            "STAGER_ENDPOINT": "http://oss-cn-hangzhou.aliyuncs.com",
            "STAGER_REMOTE": "oss://data/team",
            "STAGER_CACHE": str(tmp_path / "cache"),
            "STAGER_FREE_FLOOR": "0",
        }
        for name, text in environment.items():
            monkeypatch.setenv(name, text)
        bucket = connect.connect("oss://data", config.load(folder=tmp_path).storage)
        bucket.put("adopted/file", b"1")
        for command in commands(little, tmp_path):
            once = command[0] in ("push", "adopt", "import", "rm", "demo")
            for shape in [["--json"]] if once else [[], ["--json"]]:
                assert app.run([*command, *shape]) == 0, (command, capfd.readouterr().err)
        stored = {info.key: bytes(bucket.get(info.key)) for info in bucket.list("")}
    told = capfd.readouterr()
    here = [contents(tmp_path / name) for name in ("cache", "demo")]
    everything = f"{told.out}{told.err}{stored}{here}"
    for value in (MARK, secret, token):
        assert value not in everything
    for searched in (told.out, told.err, str(stored), str(here)):
        assert len(searched) > 100  # there was something to look through


# Where everything is refused


@dataclass(frozen=True)
class Refusing:
    """A remote on the server that quotes, and the way to it."""

    remote: str
    settings: dict[str, str]


@pytest.fixture
def echo() -> Iterator[Echo]:
    """The server that refuses and quotes."""
    with echo_server() as server:
        yield server


@pytest.fixture
def issuer() -> Iterator[Cloud]:
    """Metadata and token services that hand out planted keys, which they could not check."""
    with identity_server() as server:
        server.secret, server.token = planted("Issued"), planted("IssuedToken")
        yield server


def places(echo: Echo, issuer: Cloud, home: Path) -> dict[str, Refusing]:
    """Stores, transports and sources of credentials; proxies lead to the server."""
    pod = home / "pod-token"
    pod.write_text(planted("PodToken"))
    proxy = {"http_proxy": echo.url, "HTTP_PROXY": echo.url}
    oss = {"OSS_REGION": "cn-hangzhou", "OSS_ENDPOINT": "http://oss-cn-hangzhou.aliyuncs.com"}
    cos = {"COS_REGION": "ap-guangzhou", "COS_ENDPOINT": "http://cos.ap-guangzhou.myqcloud.com"}
    s3 = {"AWS_ENDPOINT_URL": echo.url, "AWS_EC2_METADATA_DISABLED": "true"}
    fsspec = {"STAGER_TRANSPORT": "fsspec"}
    no_files = {"AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_CONFIG_FILE": "/dev/null"}
    return {
        "s3 by variables": Refusing("s3://bucket/t", s3 | variables("AWS")),
        "s3 by file": Refusing("s3://bucket/t", s3),
        "s3 by container": Refusing(
            "s3://bucket/t",
            s3 | no_files | {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{issuer.url}/container"},
        ),
        "s3 by web identity": Refusing(
            "s3://bucket/t",
            {
                **(s3 | no_files),
                "AWS_WEB_IDENTITY_TOKEN_FILE": str(pod),
                "AWS_ROLE_ARN": "arn:aws:iam::1:role/x",
                "AWS_ENDPOINT_URL_STS": issuer.url,
            },
        ),
        "s3fs": Refusing("s3://bucket/t", s3 | fsspec | variables("AWS")),
        "oss by variables": Refusing("oss://bucket/t", proxy | oss | variables("OSS")),
        "oss by file": Refusing("oss://bucket/t", proxy | oss),
        "ossfs": Refusing("oss://bucket/t", proxy | oss | fsspec | variables("OSS")),
        "cos by variables": Refusing("cos://b-1250000000/t", proxy | cos | variables("COS")),
        "cos by file": Refusing("cos://b-1250000000/t", proxy | cos),
        "cosfs": Refusing("cos://b-1250000000/t", proxy | cos | fsspec | variables("TENCENT")),
    }


NAMES = (
    *("s3 by variables", "s3 by file", "s3 by container", "s3 by web identity", "s3fs"),
    *("oss by variables", "oss by file", "ossfs", "cos by variables", "cos by file", "cosfs"),
)
REFUSALS = ((403, "AccessDenied"), (403, "InvalidAccessKeyId"), (400, "ExpiredToken"))


@pytest.fixture
def refusing(
    request: pytest.FixtureRequest,
    echo: Echo,
    issuer: Cloud,
    planted_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Refusing:
    """The place of the test's parameter, with its settings in this process's environment."""
    place = places(echo, issuer, planted_home)[request.param]
    common = {
        "STAGER_REMOTE": place.remote,
        "STAGER_CACHE": str(tmp_path / "cache"),
        "STAGER_ATTEMPTS": "1",
        "no_proxy": "127.0.0.1",
        "NO_PROXY": "127.0.0.1",
    }
    for name, value in (common | place.settings).items():
        monkeypatch.setenv(name, value)
    return place


def assert_nothing_told(text: str, echo: Echo) -> None:
    """No planted value, and nothing that was signed with one."""
    at = text.find(MARK)
    assert at < 0, text[max(0, at - 200) : at + 60]
    for signature in echo.signatures:
        assert signature not in text


@pytest.mark.parametrize("refusing", NAMES, indirect=True)
def test_no_verb_tells_what_a_store_quotes(
    refusing: Refusing,
    echo: Echo,
    little: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    codes = {}
    for number, command in enumerate(commands(little, tmp_path)):
        if command[0] in ("cache", "demo", "path"):
            continue  # they ask no server
        echo.status, echo.code = REFUSALS[number % len(REFUSALS)]
        shape = ["--json"] if number % 2 else []
        words = [word.replace("oss://data", refusing.remote) for word in command] + shape
        codes[" ".join(words)] = app.run(words)
    told = capfd.readouterr()
    assert 0 not in codes.values(), codes
    assert echo.requests > 0
    assert_nothing_told(told.out + told.err, echo)
    assert_nothing_told(str(contents(tmp_path / "cache")), echo)


@pytest.mark.parametrize("refusing", NAMES, indirect=True)
def test_no_traceback_and_no_repr_tells_one(refusing: Refusing, echo: Echo, tmp_path: Path) -> None:
    found = config.load(folder=tmp_path)
    workspace = Workspace(found)
    store = workspace.remote
    calls = (
        lambda: store.get("key"),
        lambda: store.head("key"),
        lambda: store.put("key", b"x"),
        lambda: store.create("key", b"x"),
        lambda: list(store.list("")),
        lambda: store.delete(["key"]),
        lambda: store.put_stream("key", [b"x" * 100]),
    )
    told = []
    for number, call in enumerate(calls):
        echo.status, echo.code = REFUSALS[number % len(REFUSALS)]
        try:
            call()
        except StagerError as problem:
            told.append("".join(traceback.format_exception(problem)))
            told.append(f"{problem!r} {problem.fields} {problem.hint}")
    assert len(told) >= 6
    keys = connect.signer(refusing.remote, found.storage)
    values = (found, found.storage, found.storage.credentials, workspace, store, keys)
    told += [f"{value!r} {value}" for value in values]
    assert keys is not None
    told += [repr(keys.current()), repr(keys.explain())]
    assert_nothing_told("\n".join(told), echo)


def test_every_verb_is_tried(tmp_path: Path, little: Path) -> None:
    tried = {command[0] for command in commands(little, tmp_path)} | {"init"}
    assert tried == set(app.VERBS)
