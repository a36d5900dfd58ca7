"""`stager doctor`: what is found, by whose word, and which exit code it ends with."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from stager.ops.doctor import PACKAGES
from tests.support.clouds.oss_server import oss_server
from tests.support.command import Stager
from tests.support.identity import identity_server
from tests.support.processes import free_port
from tests.support.s3_server import S3Server

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without files of vendors."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def diagnosis(stager: Stager, *arguments: str, code: int = 0) -> Any:
    """The report, which is printed whatever the exit code."""
    result = stager.run("doctor", "--json", *arguments)
    assert result.code == code, result.stdout + result.stderr
    return result.json()


def states(report: Any) -> dict[str, str]:
    """How each source of credentials fared."""
    return {attempt["source"]: attempt["state"] for attempt in report["remote"]["credentials"]}


def test_a_local_remote_needs_nothing(local: Stager, tmp_path: Path) -> None:
    report = diagnosis(local)
    assert report["problem"] is None
    assert report["remote"]["vendor"] == "local disk"
    assert report["remote"]["credentials"] == []
    assert report["cache"]["locks"] == "work"
    origins = {row["key"]: row["origin"] for row in report["settings"]}
    assert origins["remote"] == "STAGER_REMOTE"
    assert origins["budget"] == "default"
    assert report["packages"]["obstore"][0].isdigit()
    assert not (tmp_path / "remote").exists()  # looking leaves nothing behind
    assert not local.cache.exists()


def test_a_bucket_tells_who_signs_what_it_can_and_the_time(on_s3: Stager) -> None:
    report = diagnosis(on_s3)
    assert report["problem"] is None
    remote = report["remote"]
    assert states(report)["environment AWS_ACCESS_KEY_ID"] == "used"
    assert "nothing was pushed yet" in remote["answer"]
    assert abs(remote["ahead"]) < 3
    assert any("same version number" in ability for ability in remote["abilities"])
    assert list(on_s3.workspace().remote.list()) == []  # looking leaves nothing behind
    shown = on_s3.ok("doctor").stdout
    assert "used    environment AWS_ACCESS_KEY_ID" in " ".join(shown.split("  "))
    assert "this machine's clock and the store's agree" in shown


def test_a_remote_with_versions_says_so(local: Stager, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    local.ok("push", tmp_path / "file", "data")
    assert "format 1" in diagnosis(local)["remote"]["answer"]
    (local.remote_folder / "stager.json").write_text('{"format": 2}')
    report = diagnosis(local, code=22)
    assert "newer than this stager" in report["problem"]["message"]


def test_a_wrong_key_is_told_and_so_is_the_rest(
    tmp_path: Path, s3_server: S3Server, bucket: str
) -> None:
    environment = s3_server.environment() | {"AWS_SECRET_ACCESS_KEY": "planted-wrong-secret-01"}
    stager = Stager(f"s3://{bucket}/team", tmp_path / "cache", environment)
    report = diagnosis(stager, code=12)
    assert report["problem"]["error"] == "AccessDenied"
    assert report["cache"]["locks"] == "work"
    result = stager.run("doctor")
    assert result.code == 12
    assert "settings" in result.stdout
    assert "access denied" in result.stderr
    assert "planted" not in result.stdout + result.stderr


def test_no_credentials_say_how_to_have_some(tmp_path: Path) -> None:
    environment = {"AWS_EC2_METADATA_DISABLED": "true"}
    stager = Stager("s3://bucket/team", tmp_path / "cache", environment)
    report = diagnosis(stager, code=12)
    assert "AWS_ACCESS_KEY_ID" in report["problem"]["hint"]
    assert set(states(report).values()) == {"absent"}


def test_half_a_key_is_an_error_that_names_the_other_half(tmp_path: Path) -> None:
    stager = Stager("oss://bucket/team", tmp_path / "cache", {"OSS_REGION": "cn-hangzhou"})
    result = stager.run("doctor", "--offline", "--json", OSS_ACCESS_KEY_SECRET="planted-half")
    assert result.code == 12
    assert "OSS_ACCESS_KEY_SECRET is set, OSS_ACCESS_KEY_ID is not" in result.stderr
    assert "planted" not in result.stdout + result.stderr


def test_a_server_that_is_not_there_is_told_in_a_moment(tmp_path: Path) -> None:
    environment = {
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{free_port()}",
    }
    report = diagnosis(Stager("s3://bucket", tmp_path / "cache", environment), code=13)
    assert report["remote"]["ahead"] is None


def test_without_a_remote_the_rest_is_told(local: Stager) -> None:
    result = local.run("doctor", "--json", STAGER_REMOTE="")
    assert result.code == 3
    report = result.json()
    assert report["remote"] is None
    assert "no remote is set" in report["problem"]["message"]
    assert report["cache"]["locks"] == "work"


def test_a_cache_that_cannot_be_written_is_told(local: Stager, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    report = diagnosis(local.at(tmp_path / "file" / "cache"), code=40)
    assert "nothing can be written there" in report["cache"]["locks"]


def test_offline_asks_no_server(tmp_path: Path, home: Path) -> None:
    (home / ".ossutilconfig").write_text("[default]\nmode=EcsRamRole\n")
    with identity_server() as cloud:
        environment = {
            "OSS_ENDPOINT": cloud.url,
            "OSS_REGION": "cn-hangzhou",
            "ALIBABA_CLOUD_CREDENTIALS_URI": f"{cloud.url}/uri",
        }
        stager = Stager("oss://bucket/team", tmp_path / "cache", environment)
        report = diagnosis(stager, "--offline")
        assert cloud.requests == []
    assert states(report)["ECS RAM role"] == "not asked"
    assert report["remote"]["answer"] == "not asked"


def test_credentials_that_a_server_hands_out_are_told(tmp_path: Path) -> None:
    with identity_server() as issuer, oss_server() as cloud:
        cloud.make_bucket("data")
        issuer.key_id, issuer.secret, issuer.token = cloud.issue_token(3600)
        environment = cloud.environment() | {
            "STAGER_ENDPOINT": "http://oss-cn-hangzhou.aliyuncs.com",
            "ALIBABA_CLOUD_CREDENTIALS_URI": f"{issuer.url}/uri",
        }
        for name in list(environment):
            if name.startswith(("OSS_", "AWS_")):
                del environment[name]
        stager = Stager("oss://data/team", tmp_path / "cache", environment)
        report = diagnosis(stager)
        assert states(report)["ALIBABA_CLOUD_CREDENTIALS_URI"] == "used"
        assert "with a token, ends in" in json.dumps(report)
        assert issuer.secret not in json.dumps(report)
        assert issuer.token not in json.dumps(report)


@pytest.mark.parametrize("skew", [1200, -1200])
def test_T61_a_clock_that_is_wrong_is_told_by_how_much(tmp_path: Path, skew: int) -> None:
    with oss_server() as cloud:
        cloud.make_bucket("data")
        cloud.skew_seconds = skew
        settings = {"STAGER_ENDPOINT": "http://oss-cn-hangzhou.aliyuncs.com"}
        stager = Stager("oss://data/team", tmp_path / "cache", cloud.environment() | settings)
        report = diagnosis(stager, code=12)
        assert abs(report["remote"]["ahead"] + skew) < 5
        side = "behind" if skew > 0 else "ahead of"
        assert f"s {side} the store's: requests are refused" in stager.run("doctor").stdout


def test_the_packages_are_those_of_the_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {
        requirement.split(">")[0].strip()
        for requirement in [
            *project["dependencies"],
            *(
                each
                for extra in ("s3", "oss", "cos", "dvc", "import")
                for each in project["optional-dependencies"][extra]
            ),
        ]
    }
    assert names - {"rich", "typer"} <= set(PACKAGES)
