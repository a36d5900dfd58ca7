"""Order, refreshing, sharing and explaining."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stager.errors import AccessDenied, MissingExtra
from stager.storage.credentials import chain
from stager.storage.credentials.chain import Attempt, Provider, provider
from stager.storage.credentials.sources import Answer, Source, wrong
from stager.storage.credentials.values import CredentialOptions, Credentials
from stager.storage.secret import Secret
from tests.support.identity import Cloud

Options = Callable[..., CredentialOptions]
Write = Callable[[str, str], Path]

OF_AWS = {"AWS_ACCESS_KEY_ID": "aws", "AWS_SECRET_ACCESS_KEY": "s"}


class Issuer:
    """A source that gives numbered credentials of a given life, on a clock of its own."""

    def __init__(self, life: float | None = 3600.0) -> None:
        self.now = 1000.0
        self.life = life
        self.asked = 0
        self.number = 0
        self.fails: Exception | None = None
        self.entered = threading.Event()
        self.gate: threading.Event | None = None

    def find(self) -> Answer:
        """The next ones."""
        self.asked += 1
        self.entered.set()
        if self.gate is not None:
            assert self.gate.wait(10)
        if self.fails is not None:
            raise self.fails
        ends = None if self.life is None else self.now + self.life
        text = f"value-{self.number}"
        return Credentials(f"key-{self.number}", Secret(text), Secret(text), ends, "issuer")

    def provider(self) -> Provider:
        """A provider with this source alone."""
        return Provider("aws", [Source("issuer", self.find, asks=True)], lambda: self.now)


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


# Keeping them fresh


def test_credentials_are_found_once() -> None:
    issuer = Issuer(life=None)
    keys = issuer.provider()
    assert keys.current() is keys.current()
    issuer.now += 1e9
    keys.current()
    assert issuer.asked == 1


@pytest.mark.parametrize(("life", "early"), [(3600, 300), (400, 100), (4, 1)])
def test_new_ones_are_fetched_before_the_old_ones_end(life: float, early: float) -> None:
    issuer = Issuer(life)
    keys = issuer.provider()
    keys.current()
    issuer.number = 1
    issuer.now += life - early - 0.01
    assert keys.current().access_key_id == "key-0"
    issuer.now += 0.02
    assert keys.current().access_key_id == "key-1"
    assert issuer.asked == 2


def test_a_server_that_hands_out_the_same_ones_is_not_asked_at_every_request() -> None:
    issuer = Issuer()
    keys = issuer.provider()
    ends = keys.current().expires
    assert ends is not None
    for left in range(300, 0, -1):
        issuer.now, issuer.life = ends - left, left
        keys.current()
    assert issuer.asked < 30


def test_while_the_old_ones_hold_a_failed_renewal_is_kept_for_the_record() -> None:
    issuer = Issuer()
    keys = issuer.provider()
    keys.current()
    issuer.fails = wrong("issuer", "it is down")
    issuer.now += 3400
    assert keys.current().access_key_id == "key-0"
    assert "it is down" in keys.failure
    asked = issuer.asked
    keys.current()
    assert issuer.asked == asked  # not at once again
    issuer.now += 31
    keys.current()
    assert issuer.asked == asked + 1
    issuer.fails = None
    issuer.now += 31
    keys.current()
    assert keys.failure == ""


def test_when_they_have_ended_the_source_is_named() -> None:
    issuer = Issuer()
    keys = issuer.provider()
    keys.current()
    issuer.fails = wrong("issuer", "it is down")
    issuer.now += 3601
    with pytest.raises(AccessDenied, match="those from issuer have ended; it is down"):
        keys.current()
    issuer.fails = None
    assert keys.current().access_key_id == "key-0"


def test_what_has_ended_when_it_is_found_is_refused() -> None:
    with pytest.raises(AccessDenied, match="they have ended") as caught:
        Issuer(life=-1).provider().current()
    assert "clock" in caught.value.hint


def test_a_missing_package_stays_what_it_is() -> None:
    issuer = Issuer()
    issuer.fails = MissingExtra(purpose="x", package="botocore", extra="s3")
    with pytest.raises(MissingExtra, match="botocore"):
        issuer.provider().current()


# A store refused them


def test_renewing_tells_whether_there_are_others() -> None:
    issuer = Issuer(life=None)
    keys = issuer.provider()
    first = keys.current()
    assert not keys.renew(first)
    issuer.number = 1
    assert keys.renew(first)
    assert keys.current().access_key_id == "key-1"
    asked = issuer.asked
    assert keys.renew(first)  # somebody else has renewed already
    assert issuer.asked == asked


def test_a_renewal_that_fails_keeps_the_old_ones() -> None:
    issuer = Issuer(life=None)
    keys = issuer.provider()
    first = keys.current()
    issuer.fails = wrong("issuer", "it is down")
    assert not keys.renew(first)
    assert keys.current() is first


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


# In threads


def test_many_threads_make_one_question() -> None:
    issuer = Issuer()
    issuer.gate = threading.Event()
    keys = issuer.provider()
    with ThreadPoolExecutor(16) as pool:
        found = [pool.submit(keys.current) for _ in range(16)]
        assert issuer.entered.wait(10)
        issuer.gate.set()
        assert len({id(each.result()) for each in found}) == 1
    assert issuer.asked == 1


def test_waiting_threads_share_a_failure() -> None:
    issuer = Issuer()
    issuer.gate = threading.Event()
    issuer.fails = wrong("issuer", "it is down")
    keys = issuer.provider()
    waiting = threading.Barrier(9)

    def ask() -> str:
        waiting.wait(10)
        with pytest.raises(AccessDenied) as caught:
            keys.current()
        return str(caught.value)

    with ThreadPoolExecutor(8) as pool:
        said = [pool.submit(ask) for _ in range(8)]
        waiting.wait(10)
        assert issuer.entered.wait(10)
        issuer.gate.set()
        assert len({each.result() for each in said}) == 1
    assert issuer.asked < 8


def test_others_go_on_with_valid_ones_while_one_thread_asks() -> None:
    issuer = Issuer()
    keys = issuer.provider()
    old = keys.current()
    issuer.gate, issuer.number = threading.Event(), 1
    issuer.entered.clear()
    issuer.now += 3400
    with ThreadPoolExecutor(1) as pool:
        renewing = pool.submit(keys.current)
        assert issuer.entered.wait(10)
        assert keys.current() is old
        issuer.gate.set()
        assert renewing.result().access_key_id == "key-1"


def test_many_threads_refused_at_once_renew_once() -> None:
    issuer = Issuer(life=None)
    keys = issuer.provider()
    first = keys.current()
    issuer.number, issuer.gate = 1, threading.Event()
    issuer.entered.clear()
    with ThreadPoolExecutor(16) as pool:
        renewed = [pool.submit(keys.renew, first) for _ in range(16)]
        assert issuer.entered.wait(10)
        issuer.gate.set()
        assert all(each.result() for each in renewed)
    assert issuer.asked == 2


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
