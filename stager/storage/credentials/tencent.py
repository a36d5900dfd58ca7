"""Where Tencent's tools keep credentials: TKE's identity, four command lines, the CAM role.

Formats and addresses: Tencent's pages on temporary keys by instance role and on
AssumeRoleWithWebIdentity; tencentcloud-sdk-python-common (credential.py), coscmd (cos_cmd.py),
tencentyun/coscli (util/types.go, util/secret.go), tccli (configure.py). Tested side by side
with the SDK and coscmd.
"""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import Any

from stager.errors import MissingExtra
from stager.storage.credentials import files, web
from stager.storage.credentials.redaction import redacted
from stager.storage.credentials.sources import (
    Absent,
    Answer,
    Ask,
    Found,
    Names,
    Source,
    paired,
    required,
    wrong,
)
from stager.storage.credentials.values import CredentialOptions, Credentials
from stager.storage.secret import Secret

COS_ENVIRONMENT = Names("COS_SECRET_ID", "COS_SECRET_KEY", ("COS_TOKEN",))
ENVIRONMENT = Names(
    "TENCENTCLOUD_SECRET_ID",
    "TENCENTCLOUD_SECRET_KEY",
    ("TENCENTCLOUD_TOKEN", "TENCENTCLOUD_SECURITY_TOKEN"),
)
TKE = ("TKE_WEB_IDENTITY_TOKEN_FILE", "TKE_ROLE_ARN", "TKE_PROVIDER_ID", "TKE_REGION")
ANSWER = Names("TmpSecretId", "TmpSecretKey", ("Token",))

INSTANCE = "http://metadata.tencentyun.com"
ROLES = "/latest/meta-data/cam/security-credentials/"
STS = "https://sts.tencentcloudapi.com"
TOKEN_SECONDS = 7200
AES_BLOCK = 16


def tke(options: CredentialOptions) -> Source:
    """A pod's identity in TKE: a token file exchanged at the token service."""
    return Source("TKE OIDC", partial(_tke, options))


def command_lines(options: CredentialOptions) -> list[Source]:
    """The files of coscmd, coscli, tccli and the SDKs."""
    return [
        Source("~/.cos.conf", partial(_coscmd, options)),
        Source("~/.cos.yaml", partial(_coscli, options)),
        Source("~/.tccli", partial(_tccli, options)),
        Source("~/.tencentcloud/credentials", partial(_sdk, options)),
    ]


def cam_role(options: CredentialOptions) -> Source:
    """The CAM role of a CVM instance."""
    return Source("CAM role", partial(role_asked, options, ""))


def role_asked(options: CredentialOptions, role: str) -> Ask:
    """This instance's role, which is asked for when it is not named."""
    return Ask(f"CAM role {role}".rstrip(), partial(_of_instance, options, role))


def _of_instance(options: CredentialOptions, role: str) -> Found:
    from urllib.parse import quote

    base = (options.metadata_endpoint or INSTANCE).rstrip("/")
    name = "CAM role"
    try:
        if not role:
            listed = web.metadata(web.Question(base + ROLES))
            role = listed.text.partition("\n")[0].strip() if listed.status == 200 else ""
        if not role:
            return Absent("this instance has no role")
        reply = web.metadata(web.Question(base + ROLES + quote(role, safe="")))
    except web.Unreachable as problem:
        return Absent(f"no metadata server: {problem}")
    found = web.document(reply, name)
    if found.get("Code") != "Success":
        raise wrong(name, f"{role}: the answer says {found.get('Code')!r}, not Success")
    return _temporary(found, found.get("ExpiredTime"), f"{name} {role}")


def _tke(options: CredentialOptions) -> Answer:
    name = "TKE OIDC"
    values = {key: options.environ.get(key, "") for key in TKE}
    if not values[TKE[0]]:
        return Absent(f"{TKE[0]} is not set")
    for key, value in values.items():
        if not value:
            raise wrong(name, f"{TKE[0]} is set, {key} is not")
    return Ask(name, partial(_exchanged, options, values))


def _exchanged(options: CredentialOptions, values: dict[str, str]) -> Found:
    name, path = "TKE OIDC", values[TKE[0]]
    token = files.text(Path(path), path)
    if token is None:
        raise wrong(name, f"{path}: no such file")
    form = {
        "ProviderId": values["TKE_PROVIDER_ID"],
        "WebIdentityToken": token.strip(),
        "RoleArn": values["TKE_ROLE_ARN"],
        "RoleSessionName": "stager",
        "DurationSeconds": TOKEN_SECONDS,
    }
    headers = {
        "Content-Type": "application/json",
        "Authorization": "SKIP",  # this action is not signed
        "X-TC-Action": "AssumeRoleWithWebIdentity",
        "X-TC-Version": "2018-08-13",
        "X-TC-Region": values["TKE_REGION"],
        "X-TC-Timestamp": str(int(time.time())),
    }
    endpoint = (options.sts_endpoint or STS).rstrip("/")
    try:
        reply = web.service(web.Question(f"{endpoint}/", headers, json.dumps(form).encode()))
    except web.Unreachable as problem:
        raise wrong(name, f"the token service: {problem}") from None
    found = web.document(reply, name).get("Response")
    found = found if isinstance(found, dict) else {}
    refused = found.get("Error")
    if isinstance(refused, dict):
        code = redacted(files.words(refused, "Code"))
        raise wrong(name, f"{values['TKE_ROLE_ARN']}: refused with {code}")
    given = found.get("Credentials")
    given = given if isinstance(given, dict) else {}
    return _temporary(given, found.get("ExpiredTime"), f"{name}, {values['TKE_ROLE_ARN']}")


def _temporary(found: dict[str, Any], ends: object, name: str) -> Found:
    """Keys with an end, out of an answer of the metadata server or the token service."""
    values = [files.words(found, key) for key in (*ANSWER[:2], *ANSWER.tokens)]
    if not all(values):
        raise wrong(name, "the answer holds no whole credentials")
    expires = web.moment(ends, name)
    return Credentials(values[0], Secret(values[1]), Secret(values[2]), expires, name)


def _keys(values: dict[str, Any], names: Names, where: str) -> Found:
    key_id, secret = (files.words(values, name) for name in names[:2])
    token = files.words(values, *names.tokens)
    return paired(where, names, Credentials(key_id, Secret(secret), Secret(token), None, where))


def _coscmd(options: CredentialOptions) -> Answer:
    """[common] of coscmd's ini file; it knows no profiles."""
    path = options.home / ".cos.conf"
    sections = files.ini(path, options.shown(path))
    if sections is None:
        return Absent("no such file")
    values = dict(sections.get("common", {}))
    if options.profile or not values:
        return Absent(f"no profile {options.profile}" if options.profile else "no [common]")
    values.setdefault("secret_id", values.get("access_id", ""))  # as its first versions wrote
    names = Names("secret_id", "secret_key", ("token",))
    return _keys(values, names, f"{options.shown(path)} [common]")


def _coscli(options: CredentialOptions) -> Answer:
    """cos.base of coscli's YAML file; it encrypts its keys unless told not to."""
    path = options.home / ".cos.yaml"
    shown = options.shown(path)
    text = files.text(path, shown)
    if text is None:
        return Absent("no such file")
    if options.profile:
        return Absent(f"no profile {options.profile}")
    base = _base_of(text, shown)
    if files.words(base, "mode").lower() == "cvmrole":
        return required(shown, role_asked(options, files.words(base, "cvmrolename")))
    if any(_is_encrypted(files.words(base, key)) for key in ("secretid", "secretkey")):
        hint = "set COS_SECRET_ID and COS_SECRET_KEY, or switch its encryption off in coscli"
        raise wrong(shown, "coscli has encrypted its keys, so only coscli can read them", hint)
    return _keys(base, Names("secretid", "secretkey", ("sessiontoken",)), shown)


def _base_of(text: str, shown: str) -> dict[str, Any]:
    try:
        import yaml
    except ImportError as problem:
        raise MissingExtra(purpose=shown, package="pyyaml", extra="cos") from problem
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as problem:
        mark = getattr(problem, "problem_mark", None)
        line = f", in line {mark.line + 1}" if mark else ""
        raise wrong(shown, f"is not YAML{line}") from None
    for key in ("cos", "base"):
        found = found.get(key) if isinstance(found, dict) else None
    return {str(key): value for key, value in found.items()} if isinstance(found, dict) else {}


def _is_encrypted(text: str) -> bool:
    """Base64 of whole AES blocks: a plain key of Tencent's never has such a length."""
    import base64
    import binascii

    try:
        found = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return bool(found) and len(found) % AES_BLOCK == 0 and not text.startswith("AKID")


def _tccli(options: CredentialOptions) -> Answer:
    """PROFILE.credential of tccli: static keys, or a session with its end."""
    profile = options.profile or "default"
    path = options.home / ".tccli" / f"{profile}.credential"
    if "/" in profile:
        return Absent(f"no profile {profile}")
    where = options.shown(path)
    found = files.json_object(path, where)
    if found is None:
        return Absent(f"no profile {profile}" if options.profile else "no such file")
    if found.get("type") == "cvm-role":
        return required(where, role_asked(options, ""))
    answer = _keys(found, Names("secretId", "secretKey", ("token",)), where)
    ends = found.get("expiresAt")
    if isinstance(answer, Credentials) and isinstance(ends, (int, float)) and ends:
        return answer._replace(expires=float(ends))
    return answer


def _sdk(options: CredentialOptions) -> Answer:
    """[default] of the SDKs' ini file, or the section of the profile."""
    path = options.home / ".tencentcloud" / "credentials"
    sections = files.ini(path, options.shown(path))
    if sections is None:
        return Absent("no such file")
    profile = options.profile or "default"
    if profile not in sections:
        return Absent(f"no profile {profile}")
    names = Names("secret_id", "secret_key", ("token",))
    return _keys(sections[profile], names, f"{options.shown(path)} [{profile}]")
