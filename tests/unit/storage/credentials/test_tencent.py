"""Where Tencent's tools keep credentials."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stager.errors import AccessDenied, MissingExtra
from stager.storage.credentials import tencent
from stager.storage.credentials.sources import Absent, Found, settled
from stager.storage.credentials.values import CredentialOptions, Credentials
from stager.storage.secret import Secret
from tests.support.identity import Cloud

Options = Callable[..., CredentialOptions]
Write = Callable[[str, str], Path]
COSCMD, COSCLI, TCCLI, SDK = range(4)
CAM = "/latest/meta-data/cam/security-credentials/"


def read(number: int, options: CredentialOptions) -> Found:
    """The answer of one of coscmd, coscli, tccli and the SDK."""
    return settled(tencent.command_lines(options)[number].find())


def issued(cloud: Cloud, name: str) -> Credentials:
    """What the cloud hands out."""
    return Credentials(cloud.key_id, Secret(cloud.secret), Secret(cloud.token), cloud.ends, name)


def test_the_role_of_an_instance(options: Options, cloud: Cloud) -> None:
    cloud.expires = 2_000_000_000.0
    assert settled(tencent.cam_role(options()).find()) == issued(cloud, "CAM role train-role")
    cloud.replies[CAM + "train-role"] = b'{"Code": "Failed"}'
    with pytest.raises(AccessDenied, match="not Success"):
        settled(tencent.cam_role(options()).find())
    cloud.statuses[CAM] = 404
    assert settled(tencent.cam_role(options()).find()) == Absent("this instance has no role")
    nowhere = options({"metadata_endpoint": "http://127.0.0.1:1"})
    assert isinstance(settled(tencent.cam_role(nowhere).find()), Absent)


def test_a_pod_exchanges_its_token(options: Options, cloud: Cloud, write: Write) -> None:
    cloud.expires = 2_000_000_000.0
    environ = {
        "TKE_REGION": "ap-guangzhou",
        "TKE_PROVIDER_ID": "p",
        "TKE_ROLE_ARN": "qcs::cam::uin/1:roleName/x",
        "TKE_WEB_IDENTITY_TOKEN_FILE": str(write("token", "tke-token\n")),
    }
    found = settled(tencent.tke(options(**environ)).find())
    assert found == issued(cloud, "TKE OIDC, qcs::cam::uin/1:roleName/x")
    assert cloud.forms[0]["WebIdentityToken"] == "tke-token"
    cloud.replies["/"] = b'{"Response": {"Error": {"Code": "InvalidParameter", "Message": "t"}}}'
    with pytest.raises(AccessDenied, match=r"refused with InvalidParameter$"):
        settled(tencent.tke(options(**environ)).find())
    del environ["TKE_ROLE_ARN"]
    with pytest.raises(AccessDenied, match="TKE_ROLE_ARN is not"):
        settled(tencent.tke(options(**environ)).find())
    assert isinstance(settled(tencent.tke(options()).find()), Absent)


def test_coscmd(options: Options, write: Write) -> None:
    assert read(COSCMD, options()) == Absent("no such file")
    write(".cos.conf", "[common]\nsecret_id = a\nsecret_key = b\ntoken = c\nbucket = x-1\n")
    expected = Credentials("a", Secret("b"), Secret("c"), None, "~/.cos.conf [common]")
    assert read(COSCMD, options()) == expected
    write(".cos.conf", "[common]\naccess_id = a\nsecret_key = b\n")
    assert read(COSCMD, options()) == expected._replace(session_token=Secret())
    assert read(COSCMD, options({"profile": "p"})) == Absent("no profile p")


def yaml(**base: str) -> str:
    """coscli's file."""
    lines = "".join(f"    {name}: {value}\n" for name, value in base.items())
    return f"cos:\n  base:\n{lines}  buckets:\n  - name: x-1250000000\n    alias: x\n"


def test_coscli(options: Options, write: Write, cloud: Cloud) -> None:
    assert read(COSCLI, options()) == Absent("no such file")
    write(".cos.yaml", yaml(secretid="AKIDx", secretkey="b", sessiontoken='""', protocol="https"))
    expected = Credentials("AKIDx", Secret("b"), Secret(), None, "~/.cos.yaml")
    assert read(COSCLI, options()) == expected
    write(".cos.yaml", yaml(mode="CvmRole", cvmrolename="given"))
    found = read(COSCLI, options())
    assert isinstance(found, Credentials)
    assert found.source == "CAM role given"
    write(".cos.yaml", "cos: [1]\n")
    assert isinstance(read(COSCLI, options()), Absent)


def test_keys_that_coscli_has_encrypted_are_said_to_be(options: Options, write: Write) -> None:
    sealed = base64.b64encode(b"0123456789abcdef" * 3).decode()
    write(".cos.yaml", yaml(secretid=sealed, secretkey=sealed))
    with pytest.raises(AccessDenied, match="coscli has encrypted its keys") as caught:
        read(COSCLI, options())
    assert "COS_SECRET_ID" in caught.value.hint


def test_a_broken_yaml_file_is_not_quoted(options: Options, write: Write) -> None:
    write(".cos.yaml", "cos:\n  base: {secretkey: planted-0123456789\n")
    with pytest.raises(AccessDenied, match="is not YAML, in line") as caught:
        read(COSCLI, options())
    assert "planted" not in str(caught.value)


def test_without_yaml_the_package_is_named(
    options: Options, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(".cos.yaml", yaml(secretid="a", secretkey="b"))
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingExtra, match="pyyaml"):
        read(COSCLI, options())


def test_tccli(options: Options, write: Write) -> None:
    assert read(TCCLI, options()) == Absent("no such file")
    keys = {"secretId": "a", "secretKey": "b"}
    write(".tccli/default.credential", json.dumps(keys))
    write(".tccli/work.credential", json.dumps({**keys, "token": "c", "expiresAt": 9}))
    expected = Credentials("a", Secret("b"), Secret(), None, "~/.tccli/default.credential")
    assert read(TCCLI, options()) == expected
    work = Credentials("a", Secret("b"), Secret("c"), 9.0, "~/.tccli/work.credential")
    assert read(TCCLI, options({"profile": "work"})) == work
    assert read(TCCLI, options({"profile": "../work"})) == Absent("no profile ../work")
    write(".tccli/default.credential", '{"type": "cvm-role"}')
    assert isinstance(read(TCCLI, options()), Credentials)


def test_the_file_of_the_sdk(options: Options, write: Write) -> None:
    assert read(SDK, options()) == Absent("no such file")
    write(".tencentcloud/credentials", "[default]\nsecret_id = a\nsecret_key = b\n")
    where = "~/.tencentcloud/credentials [default]"
    assert read(SDK, options()) == Credentials("a", Secret("b"), Secret(), None, where)
    assert read(SDK, options({"profile": "p"})) == Absent("no profile p")
