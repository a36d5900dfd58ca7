"""Secrets planted in every place are found in no output, no file and no object.

A planted value has a marker that no encoding changes. The stores are a cloud that accepts,
whose tokens are real, and a server that refuses everything and quotes what it was sent.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
from tests.support import corpus
from tests.support.clouds.oss_server import oss_server
from tests.support.command import Stager, contents
from tests.support.echo_server import Echo, echo_server
from tests.support.foreign import FIRST, hub_snapshot
from tests.support.identity import Cloud, identity_server

MARK = "Pl4nt3d"


def planted(place: str) -> str:
    """A secret as long and as odd as real ones, which tells where it was planted."""
    return f"{MARK}{place}/+9x=0123456789abcdef"


def plant_files(home: Path) -> None:
    """Whole credentials in the file of every tool."""
    texts = {
        ".aws/credentials": "[default]\naws_access_key_id=idAwsFile\naws_secret_access_key="
        f"{planted('AwsFile')}\naws_session_token={planted('AwsFileToken')}\n",
        ".aws/config": f"[profile x]\naws_secret_access_key={planted('AwsConfig')}\n",
        ".ossutilconfig": f"[default]\naccessKeyID=idOssutil\naccessKeySecret={planted('Ossutil')}"
        f"\nstsToken={planted('OssutilToken')}\n",
        ".aliyun/config.json": json.dumps(
            {
                "current": "a",
                "profiles": [
                    {
                        "name": "a",
                        "mode": "StsToken",
                        "access_key_id": "idAliyun",
                        "access_key_secret": planted("Aliyun"),
                        "sts_token": planted("AliyunToken"),
                    }
                ],
            }
        ),
        ".cos.conf": f"[common]\nsecret_id=idCoscmd\nsecret_key={planted('Coscmd')}\n",
        ".cos.yaml": f"cos:\n  base: {{secretid: idCoscli, secretkey: '{planted('Coscli')}'}}\n",
        ".tccli/default.credential": json.dumps(
            {"secretId": "idTccli", "secretKey": planted("Tccli"), "token": planted("TccliToken")}
        ),
        ".tencentcloud/credentials": f"[default]\nsecret_id=idSdk\nsecret_key={planted('Sdk')}\n",
    }
    for name, text in texts.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def variables(*vendors: str) -> dict[str, str]:
    """Whole credentials in the variables of these vendors."""
    names = {
        "AWS": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
        "OSS": ("OSS_ACCESS_KEY_ID", "OSS_ACCESS_KEY_SECRET", "OSS_SESSION_TOKEN"),
        "ALIBABA": tuple(
            f"ALIBABA_CLOUD_{name}"
            for name in ("ACCESS_KEY_ID", "ACCESS_KEY_SECRET", "SECURITY_TOKEN")
        ),
        "COS": ("COS_SECRET_ID", "COS_SECRET_KEY", "COS_TOKEN"),
        "TENCENT": tuple(f"TENCENTCLOUD_{name}" for name in ("SECRET_ID", "SECRET_KEY", "TOKEN")),
    }
    found = {}
    for vendor in vendors:
        key_id, secret, token = names[vendor]
        found[key_id] = f"id{vendor}"
        found[secret], found[token] = planted(f"{vendor}Env"), planted(f"{vendor}EnvToken")
    return found


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with every file, and an environment without variables of vendors."""
    for name in os.environ:
        if name.startswith((*config.VENDOR_PREFIXES, "STAGER_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    plant_files(folder)
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A little data."""
    folder = tmp_path / "source"
    folder.mkdir()
    corpus.jsonl(folder / "train.jsonl", 100_000, seed=3)
    return folder


def commands(source: Path, elsewhere: Path) -> list[list[str]]:
    """Every verb, in an order in which each can succeed."""
    hub = hub_snapshot(elsewhere / "hub" / "models--org--name", {"README.md": b"# x\n"}, FIRST)
    lines = [
        f"push {source} data -m first",
        f"push {source} data@second --plain",
        "adopt oss://data/adopted other",
        f"import --hf {hub} hub",
        "pull data@v1",
        "log data",
        "ls",
        "show data@v1",
        "diff data@v1 data@second",
        "path data@v1",
        "tag data@v1 best",
        "verify data@v1 --in-remote",
        "du",
        "gc",
        "cache ls",
        "cache prune",
        "rm data@second",
        f"demo {elsewhere / 'demo'}",
        "doctor",
    ]
    return [line.split() for line in lines]


# Where everything succeeds


def test_nothing_is_told_where_everything_succeeds(
    home: Path,
    source: Path,
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
        for command in commands(source, tmp_path):
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
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Refusing:
    """The place of the test's parameter, with its settings in this process's environment."""
    place = places(echo, issuer, home)[request.param]
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
    source: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    codes = set()
    for number, command in enumerate(commands(source, tmp_path)):
        if command[0] in ("cache", "demo", "path"):
            continue  # they ask no server
        echo.status, echo.code = REFUSALS[number % len(REFUSALS)]
        shape = ["--json"] if number % 2 else []
        codes.add(
            app.run([word.replace("oss://data", refusing.remote) for word in command] + shape)
        )
    told = capfd.readouterr()
    assert 0 not in codes
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


# Where a user has put keys into a URL


@pytest.mark.parametrize(
    "url",
    [
        f"s3://key:{MARK}0123456789@bucket/team",
        f"s3://key:{MARK}01234/56789@bucket/team",
        f"oss://{MARK}0123456789@bucket/team",
        f"s3://bucket/team?X-Amz-Credential={MARK}&X-Amz-Signature={MARK}",
        f"https://bucket.oss-cn-hangzhou.aliyuncs.com/x?OSSAccessKeyId={MARK}&Signature={MARK}",
    ],
)
def test_a_url_with_keys_is_refused_and_not_quoted(
    url: str,
    home: Path,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STAGER_CACHE", str(tmp_path / "cache"))
    lines = [[*command, "--remote", url] for command in commands(source, tmp_path)]
    lines = [line for line in lines if line[0] not in ("demo", "path", "cache", "adopt")]
    lines += [["init", "--remote", url, "--cache", "c"], ["adopt", url, "x", "--remote", "r"]]
    for line in lines:
        assert app.run(line) == 2, line
        assert app.run([*line, "--json"]) == 2, line
    told = capfd.readouterr()
    assert "keys do not belong into a URL" in told.err
    assert MARK not in told.out + told.err
    assert not (tmp_path / "stager.toml").exists()
    assert MARK not in str([path.read_bytes() for path in (tmp_path / "cache").rglob("*.json")])


@pytest.mark.parametrize(
    "settings",
    [
        {"STAGER_ENDPOINT": f"http://key:{MARK}@127.0.0.1:1"},
        {"AWS_ENDPOINT_URL": f"http://key:{MARK}@127.0.0.1:1"},
        {"HTTP_PROXY": f"http://key:{MARK}@127.0.0.1:1", "STAGER_ENDPOINT": "http://store.test"},
        {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"http://key:{MARK}@127.0.0.1:1/"},
    ],
)
def test_keys_in_other_settings_are_not_told(
    settings: dict[str, str],
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (home / ".aws" / "credentials").unlink()
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    if "CONTAINER" not in str(settings):
        for name, value in variables("AWS").items():
            monkeypatch.setenv(name, value)
    common = {"STAGER_ATTEMPTS": "1", "STAGER_CACHE": str(tmp_path / "cache")}
    for name, value in {**common, **settings}.items():
        monkeypatch.setenv(name, value)
    for verb in ("log data", "doctor", "doctor --json"):
        assert app.run([*verb.split(), "--remote", "s3://bucket/t"]) not in (0, 2)
    told = capfd.readouterr()
    assert MARK not in told.out + told.err


# Where a file or a library is at fault


@pytest.mark.parametrize(
    ("name", "text", "vendor"),
    [
        (".aws/credentials", f"[default]\n{MARK}0123456789\n", "s3"),
        (".aws/credentials", f"[default]\naws_secret_access_key={MARK}0123456789\n", "s3"),
        (".aws/config", f"[default]\ncredential_process = sh -c 'echo {MARK} >&2; exit 1'\n", "s3"),
        (".aws/config", f"[default]\ncredential_process = sh -c 'echo {MARK}{MARK}'\n", "s3"),
        (".ossutilconfig", f"{MARK}=1\n", "oss"),
        (".aliyun/config.json", '{"profiles": "' + MARK, "oss"),
        (".cos.conf", f"{MARK}\n", "cos"),
        (".cos.yaml", f"cos: {{base: [{MARK}", "cos"),
        (".tccli/default.credential", f'{{"secretKey": "{MARK}0123456789"}}', "cos"),
    ],
)
def test_a_broken_file_is_not_quoted(name: str, text: str, vendor: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    remote = {"s3": "s3://b/t", "oss": "oss://b/t", "cos": "cos://b-1250000000/t"}[vendor]
    environment = {"HOME": str(tmp_path), "AWS_EC2_METADATA_DISABLED": "true"}
    regions = {"OSS_REGION": "cn-hangzhou", "COS_REGION": "ap-guangzhou"}
    stager = Stager(remote, tmp_path / "cache", environment | regions)
    result = stager.run("log", "data")
    assert result.code == 12, result.stderr
    assert name.split("/")[0].split(".credential")[0] in result.stderr
    assert MARK not in result.stdout + result.stderr


def test_every_verb_is_tried(tmp_path: Path, source: Path) -> None:
    tried = {command[0] for command in commands(source, tmp_path)} | {"init"}
    assert tried == set(app.VERBS)


def test_a_secret_in_the_environment_is_no_argument_of_a_process(home: Path) -> None:
    """What a process was started with can be read by every user of a machine."""
    code = (
        "from stager import config; found = config.load(); import pickle, pathlib;"
        "print(pathlib.Path('/proc/self/cmdline').read_bytes(), found)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **variables("AWS", "OSS", "COS")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert MARK not in done.stdout
