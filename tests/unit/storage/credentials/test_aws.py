"""Where the AWS SDKs keep credentials."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stager.errors import AccessDenied, MissingExtra
from stager.storage.credentials import aws
from stager.storage.credentials.sources import Absent, Found, settled
from stager.storage.credentials.values import CredentialOptions, Credentials
from stager.storage.secret import Secret
from tests.support.identity import Cloud

Options = Callable[..., CredentialOptions]
Write = Callable[[str, str], Path]


def source(number: int, options: CredentialOptions) -> Found:
    """The answer of one of web identity, files, container, instance."""
    return settled(aws.sources(options)[number].find())


WEB, FILES, CONTAINER, INSTANCE = range(4)


def issued(cloud: Cloud, name: str) -> Credentials:
    """What the cloud hands out."""
    return Credentials(cloud.key_id, Secret(cloud.secret), Secret(cloud.token), cloud.ends, name)


def test_the_role_of_an_instance(options: Options, cloud: Cloud) -> None:
    cloud.expires = 2_000_000_000.0
    assert source(INSTANCE, options()) == issued(cloud, "instance role train role")
    assert [method for method, _ in cloud.requests] == ["PUT", "GET", "GET"]


def test_the_endpoint_of_the_metadata_is_the_vendors_variable(home: Path, cloud: Cloud) -> None:
    environ = {"AWS_EC2_METADATA_SERVICE_ENDPOINT": f"{cloud.url}/"}
    answer = source(INSTANCE, CredentialOptions(environ=environ, home=home))
    assert isinstance(answer, Credentials)


def test_an_instance_without_metadata_role_or_wish_is_absent(
    options: Options, cloud: Cloud
) -> None:
    off = source(INSTANCE, options(AWS_EC2_METADATA_DISABLED="TRUE"))
    assert (off, cloud.requests) == (Absent("AWS_EC2_METADATA_DISABLED is set"), [])
    cloud.statuses["/latest/meta-data/iam/security-credentials/"] = 404
    assert source(INSTANCE, options()) == Absent("this instance has no role")
    cloud.tokens = False
    assert source(INSTANCE, options()) == Absent("the metadata service answers 403")
    nowhere = options({"metadata_endpoint": "http://127.0.0.1:1"})
    assert source(INSTANCE, nowhere) == Absent("no metadata service: Connection refused")


def test_a_container_is_asked_where_its_variable_says(options: Options, cloud: Cloud) -> None:
    cloud.expires = 2_000_000_000.0
    full = options(AWS_CONTAINER_CREDENTIALS_FULL_URI=f"{cloud.url}/container")
    assert source(CONTAINER, full) == issued(cloud, "container")
    relative = options(AWS_CONTAINER_CREDENTIALS_RELATIVE_URI="/v2/credentials/task")
    assert source(CONTAINER, relative) == issued(cloud, "container")
    assert isinstance(source(CONTAINER, options()), Absent)


@pytest.mark.parametrize("url", ["http://example.com/x", "http://127.evil.org/", "ftp://::1/"])
def test_keys_do_not_come_from_afar_unencrypted(options: Options, url: str) -> None:
    with pytest.raises(AccessDenied, match="without https"):
        source(CONTAINER, options(AWS_CONTAINER_CREDENTIALS_FULL_URI=url))


def test_a_container_that_refuses_is_an_error(options: Options, cloud: Cloud, write: Write) -> None:
    token = write("token", "container-token-0123456789\n")
    asked = options(
        AWS_CONTAINER_CREDENTIALS_FULL_URI=f"{cloud.url}/container",
        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=str(token),
    )
    cloud.statuses["/container"] = 401
    with pytest.raises(AccessDenied, match="refused with 401"):
        source(CONTAINER, asked)
    cloud.statuses["/container"] = 302  # to where credentials are: not followed
    with pytest.raises(AccessDenied, match="refused with 302"):
        source(CONTAINER, asked)


def test_a_web_identity_is_exchanged(options: Options, cloud: Cloud, write: Write) -> None:
    cloud.expires = 2_000_000_000.0
    token = write("token", "web-identity-token\n")
    asked = options(AWS_WEB_IDENTITY_TOKEN_FILE=str(token), AWS_ROLE_ARN="arn:aws:iam::1:role/x")
    assert source(WEB, asked) == issued(cloud, "web identity, arn:aws:iam::1:role/x")
    (form,) = cloud.forms
    assert form["WebIdentityToken"] == "web-identity-token"
    assert "web-identity-token" not in str(cloud.requests)  # not in a URL, which gets logged


def test_a_web_identity_that_is_half_or_refused_is_an_error(
    options: Options, cloud: Cloud, write: Write
) -> None:
    token = str(write("token", "web-identity-token"))
    with pytest.raises(AccessDenied, match="AWS_ROLE_ARN is not"):
        source(WEB, options(AWS_WEB_IDENTITY_TOKEN_FILE=token))
    with pytest.raises(AccessDenied, match="no such file"):
        source(WEB, options(AWS_WEB_IDENTITY_TOKEN_FILE="/nowhere", AWS_ROLE_ARN="r"))
    cloud.replies["/"] = b"<Error><Code>InvalidIdentityToken</Code><Message>web-identity-token"
    cloud.statuses["/"] = 400
    with pytest.raises(AccessDenied, match="refused with InvalidIdentityToken") as caught:
        source(WEB, options(AWS_WEB_IDENTITY_TOKEN_FILE=token, AWS_ROLE_ARN="r"))
    assert "web-identity-token" not in str(caught.value)


@pytest.mark.parametrize(
    ("environ", "url"),
    [
        ({}, "https://sts.amazonaws.com"),
        ({"AWS_REGION": "eu-west-1"}, "https://sts.eu-west-1.amazonaws.com"),
        ({"AWS_REGION": "cn-north-1"}, "https://sts.cn-north-1.amazonaws.com.cn"),
        ({"AWS_REGION": "x@evil.org/"}, "https://sts.amazonaws.com"),
        ({"AWS_ENDPOINT_URL_STS": "http://here/"}, "http://here"),
    ],
)
def test_the_token_service_is_that_of_the_region(environ: dict[str, str], url: str) -> None:
    assert aws._sts(CredentialOptions(environ=environ)) == url


def test_profiles_of_the_shared_files(options: Options, write: Write) -> None:
    write(
        ".aws/credentials",
        "[default]\naws_access_key_id = a\naws_secret_access_key = b%c\n"
        "[work]\nAWS_Access_Key_Id = w\naws_secret_access_key = x\naws_session_token = y\n",
    )
    write(".aws/config", "[profile kept]\naws_access_key_id=k\naws_secret_access_key=l\n")
    assert source(FILES, options()) == Credentials(
        "a", Secret("b%c"), Secret(), None, "~/.aws/credentials [default]"
    )
    work = Credentials("w", Secret("x"), Secret("y"), None, "~/.aws/credentials [work]")
    assert source(FILES, options(AWS_PROFILE="work")) == work
    assert source(FILES, options({"profile": "work"}, AWS_PROFILE="kept")) == work
    kept = source(FILES, options(AWS_PROFILE="kept"))
    assert isinstance(kept, Credentials)
    assert kept.source == "~/.aws/config [kept]"
    assert source(FILES, options(AWS_PROFILE="none")) == Absent("no profile none")


def test_files_elsewhere_and_half_keys(options: Options, write: Write) -> None:
    path = write("else", "[default]\naws_access_key_id = a\n")
    with pytest.raises(AccessDenied, match="aws_secret_access_key is not"):
        source(FILES, options(AWS_SHARED_CREDENTIALS_FILE=str(path)))


def test_a_process_that_hands_out_keys_is_botocores_to_run(
    options: Options, write: Write, home: Path
) -> None:
    script = write("give", '#!/bin/sh\necho "$KEYS"\n')
    keys = '{"Version": 1, "AccessKeyId": "p", "SecretAccessKey": "s", "SessionToken": "t", '
    script.write_text(f'#!/bin/sh\necho \'{keys}"Expiration": "2040-01-01T00:00:00Z"}}\'\n')
    script.chmod(0o755)
    write(".aws/config", f"[default]\ncredential_process = {script}\n")
    assert source(FILES, options()) == Credentials(
        "p", Secret("s"), Secret("t"), 2_208_988_800.0, "~/.aws/config [default]"
    )
    script.write_text("#!/bin/sh\necho planted-0123456789abcdef >&2\nexit 1\n")
    with pytest.raises(AccessDenied, match=r"~/.aws/config \[default\]"):
        source(FILES, options())


def test_without_botocore_its_profiles_name_the_package(
    options: Options, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(".aws/config", "[default]\nsso_session = corp\n")
    monkeypatch.setitem(sys.modules, "botocore.session", None)
    with pytest.raises(MissingExtra, match="botocore"):
        source(FILES, options())


def test_an_answer_without_all_keys_is_an_error(options: Options, cloud: Cloud) -> None:
    cloud.replies["/container"] = b'{"AccessKeyId": "a", "Code": "Success"}'
    with pytest.raises(AccessDenied, match="no whole credentials"):
        source(CONTAINER, options(AWS_CONTAINER_CREDENTIALS_FULL_URI=f"{cloud.url}/container"))
