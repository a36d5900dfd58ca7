"""The file that both generations of ossutil write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stager.errors import AccessDenied
from stager.storage.credentials import ossutil
from stager.storage.credentials.sources import Absent, Found, settled
from stager.storage.credentials.values import CredentialOptions, Credentials
from stager.storage.secret import Secret
from tests.support.identity import Cloud

Options = Callable[..., CredentialOptions]
Write = Callable[[str, str], Path]


def read(options: CredentialOptions) -> Found:
    """What the file gives."""
    return settled(ossutil.source(options).find())


@pytest.mark.parametrize(
    ("section", "names"),
    [
        ("Credentials", ("accessKeyID", "accessKeySecret", "stsToken")),
        ("Credentials", ("access_key_id", "access_key_secret", "sts_token")),
        ("Credentials", ("accessid", "accesskey", "ststoken")),
        ("default", ("accessKeyId", "accessKeySecret", "stsToken")),
        ("Default", ("access-key-id", "access-key-secret", "sts-token")),
        ("profile default", ("accesskeyid", "accesskeysecret", "ststoken")),
    ],
)
def test_both_generations_and_all_their_spellings(
    options: Options, write: Write, section: str, names: tuple[str, ...]
) -> None:
    lines = "\n".join(f"{name}={value}" for name, value in zip(names, "abc", strict=True))
    write(".ossutilconfig", f"# made by ossutil\n[{section}]\nlanguage=CH\n{lines}\n")
    expected = Credentials("a", Secret("b"), Secret("c"), None, f"~/.ossutilconfig [{section}]")
    assert read(options()) == expected


def test_profiles(options: Options, write: Write) -> None:
    write(
        ".ossutilconfig",
        "[default]\naccessKeyId=d\naccessKeySecret=e\n"
        "[profile work]\nmode=AK\naccessKeyId=w\naccessKeySecret=x\nstsToken=left over\n"
        "[buckets x]\nregion=y\n",
    )
    work = Credentials("w", Secret("x"), Secret(), None, "~/.ossutilconfig [profile work]")
    assert read(options({"profile": "work"})) == work
    assert read(options(ALIBABA_CLOUD_PROFILE="work")) == work
    assert read(options({"profile": "none"})) == Absent("no profile none")


def test_modes(options: Options, write: Write, cloud: Cloud) -> None:
    write(".ossutilconfig", "[default]\nmode=EcsRamRole\necs-role-name=given\n")
    found = read(options())
    assert isinstance(found, Credentials)
    assert found.source == "ECS RAM role given"
    with pytest.raises(AccessDenied, match="it refers to the ECS RAM role given, but"):
        read(options({"metadata_endpoint": "http://127.0.0.1:1"}))
    write(".ossutilconfig", "[default]\nmode=Anonymous\n")
    assert isinstance(read(options()), Absent)
    write(".ossutilconfig", "[default]\nmode=RamRoleArn\nrole-arn=r\n")
    with pytest.raises(AccessDenied, match="mode RamRoleArn") as caught:
        read(options())
    assert "aliyun configure" in caught.value.hint


def test_the_service_of_the_first_generation(options: Options, write: Write) -> None:
    write(
        ".ossutilconfig",
        "[Credentials]\nendpoint=oss-cn-hangzhou.aliyuncs.com\n[AkService]\n"
        "ecsAk=http://100.100.100.200/latest/meta-data/Ram/security-credentials/role-of-it\n",
    )
    found = read(options())
    assert isinstance(found, Credentials)
    assert found.source == "ECS RAM role role-of-it"
    with pytest.raises(AccessDenied, match="AkService"):
        read(options({"metadata_endpoint": "http://127.0.0.1:1"}))


def test_no_keys_and_half_keys(options: Options, write: Write) -> None:
    assert read(options()) == Absent("no such file")
    write(".ossutilconfig", "[Bucket-Endpoint]\nb=e\n")
    assert read(options()) == Absent("no section with keys")
    write(".ossutilconfig", "[default]\naccessKeyID=a\n")
    with pytest.raises(AccessDenied, match="accessKeyID is set, accessKeySecret is not"):
        read(options())
