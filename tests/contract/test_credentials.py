"""Credentials as the vendors' own clients find them, in the same places, and as stager does.

The right-hand side of each comparison is botocore, alibabacloud-credentials or the SDK of
Tencent, reading the same files and asking the same server. So the server of
tests/support/identity.py is held to what they expect, and stager to what they find.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stager.storage.credentials.chain import provider
from stager.storage.credentials.values import CredentialOptions, Credentials
from tests.support.identity import Cloud, identity_server

Found = tuple[str, str, str]
Environ = dict[str, str]


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    """Metadata and token services."""
    with identity_server() as server:
        yield server


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, also for the clients, and nothing of ours in the environment."""
    import os

    for name in os.environ:
        if name.startswith(("AWS_", "OSS_", "ALIBABA_", "COS_", "TENCENT", "TKE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def ours(vendor: str, cloud: Cloud, home: Path, environ: Environ | None = None) -> Credentials:
    """What stager finds."""
    options = CredentialOptions(
        environ=environ or {}, home=home, metadata_endpoint=cloud.url, sts_endpoint=cloud.url
    )
    return provider(vendor, options).current()


def keys(found: Credentials) -> Found:
    """Key id, secret and token in the open."""
    return (
        found.access_key_id,
        found.secret_access_key.reveal(),
        found.session_token.reveal(),
    )


# botocore


def botocores(monkeypatch: pytest.MonkeyPatch, environ: Environ) -> tuple[Found, float | None]:
    """What botocore's own chain finds."""
    import botocore.session

    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    found = botocore.session.Session().get_credentials()
    assert found is not None
    frozen = found.get_frozen_credentials()
    ends = getattr(found, "_expiry_time", None)
    return (frozen.access_key, frozen.secret_key, frozen.token or ""), ends and ends.timestamp()


def aws_case(name: str, home: Path, cloud: Cloud) -> Environ:
    """Variables of a case; what it needs of files is written."""
    token = home / "token"
    token.write_text("a-token-of-the-pod")
    files = home / ".aws"
    files.mkdir()
    keys = "aws_access_key_id = k-{0}\naws_secret_access_key = s%{0}\n"
    (files / "other").write_text(
        "[default]\n" + keys.format("d") + "[work]\n" + keys.format("w") + "aws_session_token=t\n"
    )
    (files / "settings").write_text("[profile kept]\n" + keys.format("c") + "s3 =\n  x = y\n")
    elsewhere = {
        "AWS_SHARED_CREDENTIALS_FILE": str(files / "other"),
        "AWS_CONFIG_FILE": str(files / "settings"),
    }
    variables = {"AWS_ACCESS_KEY_ID": "e", "AWS_SECRET_ACCESS_KEY": "f"}
    return {
        "environment": {**variables, "AWS_SESSION_TOKEN": "g"},
        "environment before profile": {**elsewhere, **variables, "AWS_PROFILE": "work"},
        "default profile": elsewhere,
        "profile": {**elsewhere, "AWS_PROFILE": "work"},
        "profile of settings": {**elsewhere, "AWS_PROFILE": "kept"},
        "web identity": {
            "AWS_WEB_IDENTITY_TOKEN_FILE": str(token),
            "AWS_ROLE_ARN": "arn:aws:iam::1:role/x",
            "AWS_ENDPOINT_URL_STS": cloud.url,
            "AWS_REGION": "us-east-1",
        },
        "container": {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{cloud.url}/container"},
        "instance": {"AWS_EC2_METADATA_SERVICE_ENDPOINT": cloud.url},
    }[name]


@pytest.mark.parametrize(
    "name",
    [
        *("environment", "environment before profile", "default profile", "profile"),
        *("profile of settings", "web identity", "container", "instance"),
    ],
)
def test_aws_as_botocore_does(
    name: str, home: Path, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.expires = 2_000_000_000.0
    environ = aws_case(name, home, cloud)
    found = ours("aws", cloud, home, environ)
    assert (keys(found), found.expires) == botocores(monkeypatch, environ)


# alibabacloud-credentials


def aliyuns(client: Any) -> Found:
    """What a provider of Aliyun's SDK finds."""
    found = client.get_credentials()
    return (
        found.get_access_key_id(),
        found.get_access_key_secret(),
        found.get_security_token() or "",
    )


@pytest.fixture
def over_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """Aliyun's SDK asks its token service by https only; here the same question goes by http."""
    from Tea.core import TeaCore

    ask: Callable[..., Any] = TeaCore.do_action

    def asked(request: Any, options: Any = None) -> Any:
        request.protocol = "http"
        return ask(request, options)

    monkeypatch.setattr(TeaCore, "do_action", staticmethod(asked))


@pytest.mark.parametrize("hardened", [True, False])
def test_the_role_of_an_ecs_instance_as_the_sdk_does(
    hardened: bool, home: Path, cloud: Cloud
) -> None:
    from alibabacloud_credentials.provider import EcsRamRoleCredentialsProvider

    cloud.expires, cloud.hardened, cloud.tokens = 2_000_000_000.0, hardened, hardened
    client = EcsRamRoleCredentialsProvider(async_update_enabled=False)
    host = cloud.url.removeprefix("http://")
    client._EcsRamRoleCredentialsProvider__metadata_service_host = host
    found = ours("oss", cloud, home)
    assert keys(found) == aliyuns(client)
    assert found.expires == cloud.ends
    asked = [request for request in cloud.requests if "security-credentials" in request[1]]
    assert asked[:2] == asked[2:]


@pytest.mark.usefixtures("over_http")
def test_a_pod_in_ack_as_the_sdk_does(home: Path, cloud: Cloud) -> None:
    from alibabacloud_credentials.provider import OIDCRoleArnCredentialsProvider

    token = home / "token"
    token.write_text("a-token-of-the-pod")
    environ = {
        "ALIBABA_CLOUD_ROLE_ARN": "acs:ram::1:role/x",
        "ALIBABA_CLOUD_OIDC_PROVIDER_ARN": "acs:ram::1:oidc-provider/y",
        "ALIBABA_CLOUD_OIDC_TOKEN_FILE": str(token),
        "ALIBABA_CLOUD_ROLE_SESSION_NAME": "session",
    }
    client = OIDCRoleArnCredentialsProvider(
        role_arn=environ["ALIBABA_CLOUD_ROLE_ARN"],
        oidc_provider_arn=environ["ALIBABA_CLOUD_OIDC_PROVIDER_ARN"],
        oidc_token_file_path=str(token),
        role_session_name="session",
        sts_endpoint=cloud.url.removeprefix("http://"),
    )
    assert keys(ours("oss", cloud, home, environ)) == aliyuns(client)
    mine, theirs = ({k: v for k, v in form.items() if k != "Timestamp"} for form in cloud.forms)
    assert mine == {k: v for k, v in theirs.items() if k in mine}
    assert {"Action", "Version", "RoleArn", "OIDCProviderArn", "OIDCToken"} <= set(mine)


def test_a_credentials_uri_as_the_sdk_does(home: Path, cloud: Cloud) -> None:
    from alibabacloud_credentials.provider import URLCredentialsProvider

    environ = {"ALIBABA_CLOUD_CREDENTIALS_URI": f"{cloud.url}/uri"}
    client = URLCredentialsProvider(uri=f"{cloud.url}/uri")
    assert keys(ours("oss", cloud, home, environ)) == aliyuns(client)


@pytest.mark.parametrize("name", ["ak", "sts", "role"])
@pytest.mark.usefixtures("over_http")
def test_profiles_of_the_aliyun_command_as_the_sdk_does(
    name: str, home: Path, cloud: Cloud
) -> None:
    from alibabacloud_credentials.provider import CLIProfileCredentialsProvider

    (home / "token").write_text("a-token-of-the-pod")
    static = {"access_key_id": "a", "access_key_secret": "b", "sts_token": "c"}
    exchanged = {
        "ram_role_arn": "acs:ram::1:role/x",
        "oidc_provider_arn": "acs:ram::1:oidc-provider/y",
        "oidc_token_file": str(home / "token"),
        "role_session_name": "session",
        "sts_region": "cn-hangzhou",
    }
    profiles = [
        {"name": "ak", "mode": "AK", **static},
        {"name": "sts", "mode": "StsToken", **static},
        {"name": "role", "mode": "EcsRamRole", "ram_role_name": "given"},
        {"name": "pod", "mode": "OIDC", **exchanged},
    ]
    path = home / ".aliyun" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"current": "ak", "profiles": profiles}))
    found = ours("oss", cloud, home, {"ALIBABA_CLOUD_PROFILE": name})
    if name == "role":  # the SDK's has a fixed address here; its role is compared above
        assert keys(found) == (cloud.key_id, cloud.secret, cloud.token)
    else:
        client = CLIProfileCredentialsProvider(profile_name=name, profile_file=str(path))
        assert keys(found) == aliyuns(client)


def test_what_the_command_cannot_keep_the_sdk_exchanges(
    home: Path, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    from Tea.core import TeaCore

    ask: Callable[..., Any] = TeaCore.do_action

    def asked(request: Any, options: Any = None) -> Any:
        request.protocol, request.headers["host"] = "http", cloud.url.removeprefix("http://")
        return ask(request, options)

    monkeypatch.setattr(TeaCore, "do_action", staticmethod(asked))
    (home / "token").write_text("a-token-of-the-pod")
    profile = {
        "name": "pod",
        "mode": "OIDC",
        "ram_role_arn": "r",
        "oidc_provider_arn": "p",
        "oidc_token_file": str(home / "token"),
        "role_session_name": "session",
    }
    path = home / ".aliyun" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"current": "pod", "profiles": [profile]}))
    found = ours("oss", cloud, home)
    assert keys(found) == (cloud.key_id, cloud.secret, cloud.token)
    assert found.source == "~/.aliyun/config.json [pod]"


# tencentcloud-sdk-python-common


def test_the_role_of_a_cvm_instance_as_the_sdk_does(home: Path, cloud: Cloud) -> None:
    from tencentcloud.common.credential import CVMRoleCredential

    cloud.expires = 2_000_000_000.0
    client = CVMRoleCredential()
    client._role_endpoint = f"{cloud.url}/latest/meta-data/cam/security-credentials/"
    found = ours("cos", cloud, home)
    assert keys(found) == client.get_credential_info()
    assert found.expires == client._expired_ts
    assert cloud.requests[:2] == cloud.requests[2:]


def test_a_pod_in_tke_as_the_sdk_does(
    home: Path, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tencentcloud.common import credential

    token = home / "token"
    token.write_text("a-token-of-the-pod")
    environ = {
        "TKE_REGION": "ap-guangzhou",
        "TKE_PROVIDER_ID": "p",
        "TKE_ROLE_ARN": "qcs::cam::uin/1:roleName/x",
        "TKE_WEB_IDENTITY_TOKEN_FILE": str(token),
    }
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    profile = credential.HttpProfile
    monkeypatch.setattr(credential, "HttpProfile", lambda: profile(protocol="http"))
    client = credential.DefaultTkeOIDCRoleArnProvider().get_credentials()
    client.endpoint = cloud.url.removeprefix("http://")
    assert keys(ours("cos", cloud, home, environ)) == client.get_credential_info()
    mine, theirs = cloud.forms
    same = ("ProviderId", "WebIdentityToken", "RoleArn", "DurationSeconds", "Action")
    assert {key: mine[key] for key in same} == {key: theirs[key] for key in same}
    assert set(mine) == set(theirs)


def test_the_file_of_the_sdk_as_the_sdk_does(home: Path, cloud: Cloud) -> None:
    from tencentcloud.common.credential import ProfileCredential

    path = home / ".tencentcloud" / "credentials"
    path.parent.mkdir()
    path.write_text("[default]\nsecret_id = a \nsecret_key=b\n")
    theirs = ProfileCredential().get_credential()
    assert keys(ours("cos", cloud, home))[:2] == theirs.get_credential_info()[:2]
