"""Where Aliyun's tools keep credentials."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stager.errors import AccessDenied, MissingExtra
from stager.storage.credentials import aliyun
from stager.storage.credentials.sources import Absent, settled
from stager.storage.credentials.values import CredentialOptions, Credentials
from stager.storage.secret import Secret
from tests.support.identity import Cloud

Options = Callable[..., CredentialOptions]
Write = Callable[[str, str], Path]
RAM = "/latest/meta-data/ram/security-credentials/"


def issued(cloud: Cloud, name: str) -> Credentials:
    """What the cloud hands out."""
    return Credentials(cloud.key_id, Secret(cloud.secret), Secret(cloud.token), cloud.ends, name)


@pytest.mark.parametrize("hardened", [True, False])
def test_the_role_of_an_instance(options: Options, cloud: Cloud, hardened: bool) -> None:
    cloud.expires, cloud.hardened, cloud.tokens = 2_000_000_000.0, hardened, hardened
    assert settled(aliyun.ecs_role(options()).find()) == issued(cloud, "ECS RAM role train-role")
    named = options(ALIBABA_CLOUD_ECS_METADATA="other")
    assert settled(aliyun.ecs_role(named).find()) == issued(cloud, "ECS RAM role other")


def test_an_instance_without_metadata_role_or_wish_is_absent(
    options: Options, cloud: Cloud
) -> None:
    off = settled(aliyun.ecs_role(options(ALIBABA_CLOUD_ECS_METADATA_DISABLED="true")).find())
    assert (off, cloud.requests) == (Absent("ALIBABA_CLOUD_ECS_METADATA_DISABLED is set"), [])
    cloud.statuses[RAM] = 404
    assert settled(aliyun.ecs_role(options()).find()) == Absent("this instance has no role")
    nowhere = options({"metadata_endpoint": "http://127.0.0.1:1"})
    assert isinstance(settled(aliyun.ecs_role(nowhere).find()), Absent)


def test_the_old_mode_can_be_forbidden(options: Options, cloud: Cloud) -> None:
    cloud.tokens = cloud.hardened = False
    with pytest.raises(AccessDenied, match="refuses a token with 403"):
        settled(aliyun.ecs_role(options(ALIBABA_CLOUD_IMDSV1_DISABLED="true")).find())


def test_a_role_that_was_taken_away_is_an_error(options: Options, cloud: Cloud) -> None:
    cloud.replies[RAM + "train-role"] = b'{"Code": "EntityNotExist.Role"}'
    with pytest.raises(AccessDenied, match=r"EntityNotExist.Role.*, not Success"):
        settled(aliyun.ecs_role(options()).find())


def test_a_pod_exchanges_its_token(options: Options, cloud: Cloud, write: Write) -> None:
    cloud.expires = 2_000_000_000.0
    environ = {
        "ALIBABA_CLOUD_ROLE_ARN": "acs:ram::1:role/x",
        "ALIBABA_CLOUD_OIDC_PROVIDER_ARN": "acs:ram::1:oidc-provider/y",
        "ALIBABA_CLOUD_OIDC_TOKEN_FILE": str(write("token", "oidc-token-0123456789\n")),
    }
    found = settled(aliyun.oidc(options(**environ)).find())
    assert found == issued(cloud, "OIDC, acs:ram::1:role/x")
    assert cloud.forms[0]["OIDCToken"] == "oidc-token-0123456789"
    assert "oidc-token" not in str(cloud.requests)
    del environ["ALIBABA_CLOUD_OIDC_PROVIDER_ARN"]
    with pytest.raises(AccessDenied, match="ALIBABA_CLOUD_OIDC_PROVIDER_ARN is not"):
        settled(aliyun.oidc(options(**environ)).find())
    assert isinstance(settled(aliyun.oidc(options()).find()), Absent)


def test_a_refusal_is_told_by_its_code_alone(options: Options, cloud: Cloud, write: Write) -> None:
    cloud.statuses["/"] = 400
    cloud.replies["/"] = b'{"Code": "AuthenticationFail.OIDCToken.Expired", "Message": "token x"}'
    environ = {
        "ALIBABA_CLOUD_ROLE_ARN": "r",
        "ALIBABA_CLOUD_OIDC_PROVIDER_ARN": "p",
        "ALIBABA_CLOUD_OIDC_TOKEN_FILE": str(write("token", "t")),
    }
    with pytest.raises(AccessDenied, match=r"refused with AuthenticationFail.OIDCToken.Expired$"):
        settled(aliyun.oidc(options(**environ)).find())


@pytest.mark.parametrize(
    ("environ", "url"),
    [
        ({}, "https://sts.aliyuncs.com"),
        ({"STS_REGION": "cn-hangzhou"}, "https://sts.cn-hangzhou.aliyuncs.com"),
        (
            {"STS_REGION": "cn-hangzhou", "VPC_ENDPOINT_ENABLED": "true"},
            "https://sts-vpc.cn-hangzhou.aliyuncs.com",
        ),
        ({"STS_ENDPOINT": "sts.here.com"}, "https://sts.here.com"),
    ],
)
def test_the_token_service_is_that_of_the_region(environ: dict[str, str], url: str) -> None:
    named = {f"ALIBABA_CLOUD_{name}": value for name, value in environ.items()}
    assert aliyun._sts(CredentialOptions(environ=named)) == url


def test_a_uri_hands_out_credentials(options: Options, cloud: Cloud) -> None:
    cloud.expires = 2_000_000_000.0
    name = "ALIBABA_CLOUD_CREDENTIALS_URI"
    assert settled(aliyun.uri(options(**{name: f"{cloud.url}/uri"})).find()) == issued(cloud, name)
    with pytest.raises(AccessDenied, match="Connection refused"):
        settled(aliyun.uri(options(**{name: "http://127.0.0.1:1/"})).find())
    assert settled(aliyun.uri(options()).find()) == Absent(f"{name} is not set")


def config(write: Write, *profiles: dict[str, Any]) -> None:
    """Writes the command's file; the first profile is the current one."""
    document = {"current": profiles[0]["name"], "profiles": profiles, "meta_path": ""}
    write(".aliyun/config.json", json.dumps(document))


KEYS = {"access_key_id": "a", "access_key_secret": "b"}


def test_profiles_of_the_command(options: Options, write: Write) -> None:
    config(
        write,
        {"name": "one", "mode": "AK", **KEYS, "sts_token": "left over"},
        {"name": "two", "mode": "StsToken", **KEYS, "sts_token": "t", "sts_expiration": 99},
        {"name": "odd", "mode": "Dance"},
    )
    found = settled(aliyun.command_line(options()).find())
    assert found == Credentials("a", Secret("b"), Secret(), None, "~/.aliyun/config.json [one]")
    two = settled(aliyun.command_line(options(ALIBABA_CLOUD_PROFILE="two")).find())
    assert two == Credentials("a", Secret("b"), Secret("t"), 99.0, "~/.aliyun/config.json [two]")
    none = settled(aliyun.command_line(options({"profile": "three"})).find())
    assert none == Absent("no profile three")
    with pytest.raises(AccessDenied, match="mode Dance"):
        settled(aliyun.command_line(options({"profile": "odd"})).find())
    off = options(ALIBABA_CLOUD_CLI_PROFILE_DISABLED="true")
    assert isinstance(settled(aliyun.command_line(off).find()), Absent)


def test_a_profile_may_refer_to_the_instance_or_a_uri(
    options: Options, write: Write, cloud: Cloud
) -> None:
    config(
        write,
        {"name": "ecs", "mode": "EcsRamRole", "ram_role_name": "given"},
        {"name": "uri", "mode": "CredentialsURI", "credentials_uri": f"{cloud.url}/uri"},
    )
    found = settled(aliyun.command_line(options()).find())
    assert isinstance(found, Credentials)
    assert found.source == "ECS RAM role given"
    assert isinstance(settled(aliyun.command_line(options({"profile": "uri"})).find()), Credentials)
    with pytest.raises(AccessDenied, match="it refers to the ECS RAM role given, but no"):
        settled(aliyun.command_line(options({"metadata_endpoint": "http://127.0.0.1:1"})).find())


def test_the_command_without_a_file_or_with_odd_ones(options: Options, write: Write) -> None:
    assert settled(aliyun.command_line(options()).find()) == Absent("no such file")
    for odd in ('{"profiles": 3}', '{"profiles": [3, {"name": 4}]}', "{}"):
        write(".aliyun/config.json", odd)
        assert settled(aliyun.command_line(options()).find()) == Absent("no profile default")
    write(".aliyun/config.json", '{"profiles": [{"name": "default", "access_key_id": 7}]}')
    assert isinstance(settled(aliyun.command_line(options()).find()), Absent)


def test_without_its_sdk_an_assumed_role_names_the_package(
    options: Options, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    config(write, {"name": "r", "mode": "RamRoleArn", **KEYS, "ram_role_arn": "acs:ram::1:role/x"})
    monkeypatch.setitem(sys.modules, "alibabacloud_credentials.provider", None)
    with pytest.raises(MissingExtra, match="alibabacloud-credentials"):
        settled(aliyun.command_line(options()).find())
