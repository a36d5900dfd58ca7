"""Which source wins, and how that is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stager.errors import AccessDenied
from stager.storage.credentials import chain
from stager.storage.credentials.chain import Attempt, provider
from stager.storage.credentials.values import CredentialOptions
from stager.storage.secret import Secret
from tests.support.identity import Cloud

Options = Callable[..., CredentialOptions]
Write = Callable[[str, str], Path]

OF_AWS = {"AWS_ACCESS_KEY_ID": "aws", "AWS_SECRET_ACCESS_KEY": "s"}


# Which source wins


@pytest.mark.parametrize(
    ("vendor", "environ", "winner"),
    [
        ("aws", OF_AWS, "environment AWS_ACCESS_KEY_ID"),
        (
            "oss",
            {**OF_AWS, "OSS_ACCESS_KEY_ID": "a", "OSS_ACCESS_KEY_SECRET": "b"},
            "environment OSS_ACCESS_KEY_ID",
        ),
        (
            "oss",
            {
                **OF_AWS,
                "ALIBABA_CLOUD_ACCESS_KEY_ID": "a",
                "ALIBABA_CLOUD_ACCESS_KEY_SECRET": "b",
            },
            "environment ALIBABA_CLOUD_ACCESS_KEY_ID",
        ),
        ("oss", OF_AWS, "environment AWS_ACCESS_KEY_ID"),
        (
            "cos",
            {**OF_AWS, "COS_SECRET_ID": "a", "COS_SECRET_KEY": "b"},
            "environment COS_SECRET_ID",
        ),
        (
            "cos",
            {**OF_AWS, "TENCENTCLOUD_SECRET_ID": "a", "TENCENTCLOUD_SECRET_KEY": "b"},
            "environment TENCENTCLOUD_SECRET_ID",
        ),
        ("cos", OF_AWS, "environment AWS_ACCESS_KEY_ID"),
    ],
)
def test_keys_in_the_environment_win_and_no_server_is_asked(
    options: Options, cloud: Cloud, vendor: str, environ: dict[str, str], winner: str
) -> None:
    assert provider(vendor, options(**environ)).current().source == winner
    assert cloud.requests == []


@pytest.mark.parametrize(
    ("vendor", "winner"),
    [
        ("aws", "instance role train role"),
        ("oss", "ECS RAM role train-role"),
        ("cos", "CAM role train-role"),
    ],
)
def test_the_role_of_the_machine_is_last(
    options: Options, cloud: Cloud, vendor: str, winner: str
) -> None:
    assert provider(vendor, options()).current().source == winner


def test_given_keys_come_before_everything(options: Options) -> None:
    given = {"access_key_id": "g", "secret_access_key": Secret("s")}
    for vendor in chain.VENDORS:
        assert provider(vendor, options(given, **OF_AWS)).current().access_key_id == "g"


def test_a_role_that_is_named_comes_before_the_keys_of_another_vendor(options: Options) -> None:
    named = options(**OF_AWS, ALIBABA_CLOUD_ECS_METADATA="r")
    assert provider("oss", named).current().source == "ECS RAM role r"


def test_half_keys_are_an_error_though_others_would_do(options: Options) -> None:
    with pytest.raises(AccessDenied, match="OSS_ACCESS_KEY_SECRET is not"):
        provider("oss", options(**OF_AWS, OSS_ACCESS_KEY_ID="a")).current()


@pytest.mark.parametrize("vendor", chain.VENDORS)
def test_a_named_profile_that_is_nowhere_is_an_error(
    options: Options, cloud: Cloud, vendor: str
) -> None:
    with pytest.raises(AccessDenied, match="profile gone: access denied: not found in"):
        provider(vendor, options({"profile": "gone"})).current()
    assert cloud.requests == []


@pytest.mark.parametrize("vendor", chain.VENDORS)
def test_no_credentials_tell_three_ways_to_have_some(options: Options, vendor: str) -> None:
    nowhere = options({"metadata_endpoint": "http://127.0.0.1:1"})
    with pytest.raises(AccessDenied, match="none found") as caught:
        provider(vendor, nowhere).current()
    assert caught.value.hint.count(", or ") == 2
    assert "stager doctor" in caught.value.hint


def test_an_unknown_vendor_is_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match="none of"):
        provider("gcp", CredentialOptions())


def test_renewing_reads_files_anew(options: Options, write: Write) -> None:
    text = "[default]\naws_access_key_id={0}\naws_secret_access_key={0}\n"
    write(".aws/credentials", text.format("old"))
    keys = provider("aws", options())
    old = keys.current()
    write(".aws/credentials", text.format("new"))
    assert keys.current() is old
    assert keys.renew(old)
    assert keys.current().access_key_id == "new"


def test_renewing_asks_the_instance_anew(options: Options, cloud: Cloud) -> None:
    keys = provider("oss", options())
    old = keys.current()
    cloud.rotate()
    assert keys.renew(old)
    assert keys.current().access_key_id == cloud.key_id


# Telling where was looked


def told(attempts: list[Attempt]) -> dict[str, str]:
    """States by source."""
    return {attempt.source: attempt.state for attempt in attempts}


def test_every_source_is_explained_and_no_secret_is_told(
    options: Options, cloud: Cloud, write: Write
) -> None:
    write(".ossutilconfig", "[default]\naccessKeyID=file-key-id\naccessKeySecret=file-secret\n")
    keys = provider(
        "oss",
        options(OSS_ACCESS_KEY_ID="LTAI-planted-id", OSS_ACCESS_KEY_SECRET="planted-secret"),
    )
    attempts = keys.explain()
    states = told(attempts)
    assert states["environment OSS_ACCESS_KEY_ID"] == "used"
    assert states["~/.ossutilconfig [default]"] == "there too"
    assert states["options"] == "absent"
    assert states["ECS RAM role"] == "not asked"
    assert cloud.requests == []
    text = str(attempts)
    assert "key id LTAI…id" in text
    for secret in ("planted", "file-secret", "file-key"):
        assert secret not in text


def test_a_wrong_source_ends_the_search_and_is_explained(options: Options, cloud: Cloud) -> None:
    states = told(provider("oss", options(**OF_AWS, OSS_ACCESS_KEY_ID="a")).explain())
    assert states["environment OSS_ACCESS_KEY_ID"] == "wrong"
    assert states["environment AWS_ACCESS_KEY_ID"] == "there too"
    assert cloud.requests == []


def test_servers_are_asked_when_nothing_else_has_any(options: Options, cloud: Cloud) -> None:
    attempts = provider("cos", options()).explain()
    assert attempts[-1].state == "used"
    assert "with a token, ends in 60 min" in attempts[-1].detail
    cloud.requests.clear()
    assert told(provider("cos", options()).explain(ask=False))["CAM role"] == "not asked"
    assert cloud.requests == []


def test_a_start_imports_nothing_to_ask_with() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from stager.storage.credentials.chain import provider; "
        "from stager.storage.credentials.values import CredentialOptions as O; "
        "provider('oss', O(environ={'OSS_ACCESS_KEY_ID': 'a', 'OSS_ACCESS_KEY_SECRET': 'b'}))"
        ".current(); heavy = {'urllib.request', 'configparser', 'http.client', 'ssl', 'yaml'}; "
        "print(*heavy & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_file_that_refers_to_a_server_asks_it_only_when_it_may(
    options: Options, cloud: Cloud, write: Write
) -> None:
    write(".ossutilconfig", "[default]\nmode=EcsRamRole\necsRoleName=given\n")
    for offline in (
        provider("oss", options()).explain(ask=False),
        provider("oss", options(OSS_ACCESS_KEY_ID="a", OSS_ACCESS_KEY_SECRET="b")).explain(),
    ):
        assert told(offline)["ECS RAM role given"] == "not asked"
    assert cloud.requests == []
    assert provider("oss", options()).current().source == "ECS RAM role given"
