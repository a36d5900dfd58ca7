"""Where Aliyun's tools keep credentials: OIDC in pods, the CLI's file, a URI, the ECS role.

Formats and addresses: Aliyun's pages on the default credential chain of its SDKs, on
AssumeRoleWithOIDC of the STS API, and on instance metadata of ECS (hardened mode). Tested
side by side with alibabacloud-credentials, which also does what needs a signature or a
browser (assumed roles, CloudSSO, OAuth), where it is installed. ossutil's own file is read
in ossutil.py.
"""

from __future__ import annotations

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

OSS_ENVIRONMENT = Names(
    "OSS_ACCESS_KEY_ID", "OSS_ACCESS_KEY_SECRET", ("OSS_SESSION_TOKEN", "OSS_STS_TOKEN")
)
ENVIRONMENT = Names(
    "ALIBABA_CLOUD_ACCESS_KEY_ID",
    "ALIBABA_CLOUD_ACCESS_KEY_SECRET",
    ("ALIBABA_CLOUD_SECURITY_TOKEN",),
)
PROFILE = Names("access_key_id", "access_key_secret", ("sts_token",))
ANSWER = Names("AccessKeyId", "AccessKeySecret", ("SecurityToken",))

INSTANCE = "http://100.100.100.200"
ROLES = "/latest/meta-data/ram/security-credentials/"
TOKEN_SECONDS = "21600"
FOREIGN_MODES = (
    *("RamRoleArn", "ChainableRamRoleArn", "RamRoleArnWithEcs", "OIDC", "CloudSSO", "OAuth"),
    *("External", "RsaKeyPair"),
)


def oidc(options: CredentialOptions) -> Source:
    """A pod's identity (RRSA): a token file exchanged at the token service."""
    return Source("OIDC", partial(_oidc, options))


def command_line(options: CredentialOptions) -> Source:
    """The file of the aliyun command."""
    return Source("~/.aliyun/config.json", partial(_command_line, options))


def uri(options: CredentialOptions) -> Source:
    """A server that hands out credentials, named in the environment."""
    return Source("ALIBABA_CLOUD_CREDENTIALS_URI", partial(_uri, options))


def ecs_role(options: CredentialOptions) -> Source:
    """The RAM role of an ECS instance."""
    role = options.environ.get("ALIBABA_CLOUD_ECS_METADATA", "")
    return Source("ECS RAM role", partial(role_of_instance, options, role))


def profile_named(options: CredentialOptions) -> str:
    """The profile that was asked for by name; empty when none was."""
    return options.profile or options.environ.get("ALIBABA_CLOUD_PROFILE") or ""


def role_of_instance(options: CredentialOptions, role: str) -> Answer:
    """Of this instance's role, which is asked for when it is not named."""
    if _is_set(options.environ.get("ALIBABA_CLOUD_ECS_METADATA_DISABLED")):
        return Absent("ALIBABA_CLOUD_ECS_METADATA_DISABLED is set")
    return role_asked(options, role)


def role_asked(options: CredentialOptions, role: str) -> Ask:
    """The same for a file that says so."""
    return Ask(f"ECS RAM role {role}".rstrip(), partial(_of_instance, options, role))


def _of_instance(options: CredentialOptions, role: str) -> Found:
    """By the metadata server in hardened mode, with a token; where it gives none, without.

    ALIBABA_CLOUD_IMDSV1_DISABLED forbids the latter.
    """
    environ, name = options.environ, "ECS RAM role"
    base = (options.metadata_endpoint or INSTANCE).rstrip("/")
    asking = {"X-aliyun-ecs-metadata-token-ttl-seconds": TOKEN_SECONDS}
    try:
        token = web.metadata(web.Question(f"{base}/latest/api/token", asking, method="PUT"))
        headers = {"X-aliyun-ecs-metadata-token": token.text} if token.status == 200 else {}
        if not headers and _is_set(environ.get("ALIBABA_CLOUD_IMDSV1_DISABLED")):
            raise wrong(name, f"the metadata server refuses a token with {token.status}")
        if not role:
            listed = web.metadata(web.Question(base + ROLES, headers))
            role = listed.text.partition("\n")[0].strip() if listed.status == 200 else ""
        if not role:
            return Absent("this instance has no role")
        reply = web.metadata(web.Question(base + ROLES + _quoted(role), headers))
    except web.Unreachable as problem:
        return Absent(f"no metadata server: {problem}")
    return _temporary(web.document(reply, name), f"{name} {role}")


def _oidc(options: CredentialOptions) -> Answer:
    needed = ("OIDC_TOKEN_FILE", "ROLE_ARN", "OIDC_PROVIDER_ARN")
    values = {key: options.environ.get(f"ALIBABA_CLOUD_{key}", "") for key in needed}
    if not values["OIDC_TOKEN_FILE"]:
        return Absent("ALIBABA_CLOUD_OIDC_TOKEN_FILE is not set")
    for key, value in values.items():
        if not value:
            reason = f"ALIBABA_CLOUD_OIDC_TOKEN_FILE is set, ALIBABA_CLOUD_{key} is not"
            raise wrong("OIDC", reason)
    return Ask("OIDC", partial(_exchanged, options, values))


def _exchanged(options: CredentialOptions, values: dict[str, str]) -> Found:
    from urllib.parse import urlencode

    name, path = "OIDC", values["OIDC_TOKEN_FILE"]
    token = files.text(Path(path), path)
    if token is None:
        raise wrong(name, f"{path}: no such file")
    form = {
        "Action": "AssumeRoleWithOIDC",
        "Format": "JSON",
        "Version": "2015-04-01",
        "Timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "DurationSeconds": "3600",
        "RoleArn": values["ROLE_ARN"],
        "OIDCProviderArn": values["OIDC_PROVIDER_ARN"],
        "OIDCToken": token.strip(),
        "RoleSessionName": options.environ.get("ALIBABA_CLOUD_ROLE_SESSION_NAME") or "stager",
    }
    question = web.Question(f"{_sts(options)}/", data=urlencode(form).encode())
    try:
        reply = web.service(question)
    except web.Unreachable as problem:
        raise wrong(name, f"the token service: {problem}") from None
    found = web.document(reply, name)
    if reply.status != 200:
        raise wrong(name, f"{form['RoleArn']}: refused with {_code(found, reply)}")
    inner = found.get("Credentials")
    given = {**inner, "Code": "Success"} if isinstance(inner, dict) else {}
    return _temporary(given, f"{name}, {form['RoleArn']}")


def _sts(options: CredentialOptions) -> str:
    """The token service: as told, else of the region, inside its network where that is set."""
    environ = options.environ
    told = options.sts_endpoint or environ.get("ALIBABA_CLOUD_STS_ENDPOINT")
    if told:
        return (told if "://" in told else f"https://{told}").rstrip("/")
    region = environ.get("ALIBABA_CLOUD_STS_REGION")
    if not region:
        return "https://sts.aliyuncs.com"
    inside = _is_set(environ.get("ALIBABA_CLOUD_VPC_ENDPOINT_ENABLED"))
    return f"https://sts{'-vpc' if inside else ''}.{region}.aliyuncs.com"


def _command_line(options: CredentialOptions) -> Answer:
    if _is_set(options.environ.get("ALIBABA_CLOUD_CLI_PROFILE_DISABLED")):
        return Absent("ALIBABA_CLOUD_CLI_PROFILE_DISABLED is set")
    path = options.home / ".aliyun" / "config.json"
    config = files.json_object(path, options.shown(path))
    if config is None:
        return Absent("no such file")
    name = profile_named(options) or files.words(config, "current") or "default"
    profiles = config.get("profiles")
    named = [
        profile
        for profile in (profiles if isinstance(profiles, list) else [])
        if isinstance(profile, dict) and profile.get("name") == name
    ]
    if not named:
        return Absent(f"no profile {name}")
    return _of_profile(options, named[0], path, name)


def _of_profile(
    options: CredentialOptions, profile: dict[str, Any], path: Path, name: str
) -> Answer:
    where = f"{options.shown(path)} [{name}]"
    mode = files.words(profile, "mode") or "AK"
    if mode in ("AK", "StsToken"):
        token = files.words(profile, "sts_token") if mode == "StsToken" else ""
        ends = profile.get("sts_expiration") if token else None
        key_id, secret = (files.words(profile, key) for key in PROFILE[:2])
        expires = float(ends) if isinstance(ends, int) and ends else None
        return paired(
            where, PROFILE, Credentials(key_id, Secret(secret), Secret(token), expires, where)
        )
    if mode == "EcsRamRole":
        return required(where, role_asked(options, files.words(profile, "ram_role_name")))
    if mode == "CredentialsURI":
        return Ask(where, partial(_of_uri, files.words(profile, "credentials_uri"), where))
    if mode in FOREIGN_MODES:
        return Ask(where, partial(_by_sdk, path, name, where))
    raise wrong(where, f"mode {mode} is not one that stager knows")


def _by_sdk(path: Path, profile: str, where: str) -> Found:
    """A profile that says how to get credentials; the SDK does not tell until when they hold."""
    try:
        from alibabacloud_credentials.provider import CLIProfileCredentialsProvider
    except ImportError as problem:
        package = "alibabacloud-credentials"
        raise MissingExtra(purpose=where, package=package, extra="oss") from problem
    try:
        found = CLIProfileCredentialsProvider(
            profile_name=profile, profile_file=str(path)
        ).get_credentials()
    except Exception as problem:  # noqa: BLE001  the SDK's, and those of what it runs
        said = redacted(" ".join(str(problem).split()))[:200]
        raise wrong(where, said or type(problem).__name__) from None
    return Credentials(
        found.get_access_key_id(),
        Secret(found.get_access_key_secret()),
        Secret(found.get_security_token() or ""),
        None,
        where,
    )


def _uri(options: CredentialOptions) -> Answer:
    name = "ALIBABA_CLOUD_CREDENTIALS_URI"
    url = options.environ.get(name)
    return Ask(name, partial(_of_uri, url, name)) if url else Absent(f"{name} is not set")


def _of_uri(url: str, name: str) -> Found:
    """Credentials of a server that answers as the metadata server does."""
    try:
        reply = web.metadata(web.Question(url))
    except web.Unreachable as problem:
        raise wrong(name, str(problem)) from None
    if reply.status != 200:
        raise wrong(name, f"refused with {reply.status}")
    return _temporary(web.document(reply, name), name)


def _temporary(found: dict[str, Any], name: str) -> Found:
    """Keys with an end, out of an answer of the metadata server or the token service."""
    if found.get("Code") != "Success":
        raise wrong(name, f"the answer says {found.get('Code')!r}, not Success")
    values = [files.words(found, key) for key in (*ANSWER[:2], *ANSWER.tokens)]
    if not all(values):
        raise wrong(name, "the answer holds no whole credentials")
    expires = web.moment(found.get("Expiration"), name)
    return Credentials(values[0], Secret(values[1]), Secret(values[2]), expires, name)


def _code(found: dict[str, Any], reply: web.Reply) -> str:
    return redacted(files.words(found, "Code")) or str(reply.status)


def _is_set(value: str | None) -> bool:
    return (value or "").lower() == "true"


def _quoted(role: str) -> str:
    from urllib.parse import quote

    return quote(role, safe="")
