"""Secrets in the wrong place, or in a file or library at fault, are refused and not quoted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stager.cli import app
from tests.support.command import Stager
from tests.support.planted import MARK, commands, variables

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
    planted_home: Path,
    little: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STAGER_CACHE", str(tmp_path / "cache"))
    lines = [[*command, "--remote", url] for command in commands(little, tmp_path)]
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
    planted_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (planted_home / ".aws" / "credentials").unlink()
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


def test_a_secret_in_the_environment_is_no_argument_of_a_process(planted_home: Path) -> None:
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
