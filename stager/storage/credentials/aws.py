"""Where the AWS SDKs keep credentials, in the order in which they look.

Formats and addresses: "AWS SDKs and Tools Reference Guide" (shared files, environment
variables, container and instance metadata) and "AssumeRoleWithWebIdentity" of the STS API.
Tested side by side with botocore. What needs a signature or a browser (assumed roles, SSO,
credential_process) is botocore's to do, where it is installed.
"""

from __future__ import annotations

import contextlib
import re
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
    wrong,
)
from stager.storage.credentials.values import CredentialOptions, Credentials
from stager.storage.secret import Secret

ENVIRONMENT = Names(
    "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", ("AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN")
)
FILE = Names(
    "aws_access_key_id", "aws_secret_access_key", ("aws_session_token", "aws_security_token")
)
FOREIGN = ("role_arn", "sso_session", "sso_start_url", "login_session")

CONTAINER = "http://169.254.170.2"
CONTAINER_HOSTS = ("169.254.170.2", "169.254.170.23", "fd00:ec2::23", "localhost")
INSTANCE = "http://169.254.169.254"
INSTANCE_V6 = "http://[fd00:ec2::254]"
ROLES = "/latest/meta-data/iam/security-credentials/"
TOKEN_SECONDS = "21600"


def sources(options: CredentialOptions) -> list[Source]:
    """Web identity, shared files, container, instance."""
    return [
        Source("web identity", partial(_web_identity, options)),
        Source("~/.aws", partial(_shared_files, options)),
        Source("container", partial(_container, options)),
        Source("instance role", partial(_instance, options)),
    ]


def profile_named(options: CredentialOptions) -> str:
    """The profile that was asked for by name; empty when none was."""
    environ = options.environ
    return options.profile or environ.get("AWS_PROFILE") or environ.get("AWS_DEFAULT_PROFILE") or ""


def _web_identity(options: CredentialOptions) -> Answer:
    environ, name = options.environ, "web identity"
    path, role = environ.get("AWS_WEB_IDENTITY_TOKEN_FILE"), environ.get("AWS_ROLE_ARN")
    if not path:
        return Absent("AWS_WEB_IDENTITY_TOKEN_FILE is not set")
    if not role:
        raise wrong(name, "AWS_WEB_IDENTITY_TOKEN_FILE is set, AWS_ROLE_ARN is not")
    return Ask(name, partial(_exchanged, options, name, path, role))


def _exchanged(options: CredentialOptions, name: str, path: str, role: str) -> Found:
    from urllib.parse import urlencode

    token = files.text(Path(path), path)
    if token is None:
        raise wrong(name, f"{path}: no such file")
    form = {
        "Action": "AssumeRoleWithWebIdentity",
        "Version": "2011-06-15",
        "RoleArn": role,
        "RoleSessionName": options.environ.get("AWS_ROLE_SESSION_NAME") or "stager",
        "WebIdentityToken": token.strip(),
    }
    question = web.Question(f"{_sts(options)}/", data=urlencode(form).encode())
    try:
        reply = web.service(question)
    except web.Unreachable as problem:
        raise wrong(name, f"the token service: {problem}") from None
    return _assumed(reply, name, role)


def _sts(options: CredentialOptions) -> str:
    """The token service: as told, else of the region, else the one for all."""
    environ = options.environ
    told = options.sts_endpoint or environ.get("AWS_ENDPOINT_URL_STS")
    if told:
        return told.rstrip("/")
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or ""
    if not re.fullmatch(r"[a-z0-9-]+", region):
        return "https://sts.amazonaws.com"
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://sts.{region}.{suffix}"


def _assumed(reply: web.Reply, name: str, role: str) -> Found:
    """Credentials out of the XML of an answer of STS."""
    found = dict(
        re.findall(
            r"<(AccessKeyId|SecretAccessKey|SessionToken|Expiration|Code)>([^<]+)<", reply.text
        )
    )
    if reply.status != 200:
        raise wrong(name, f"{role}: refused with {found.get('Code', reply.status)}")
    return _temporary(found, "SessionToken", f"{name}, {role}")


def _temporary(found: dict[str, Any], token: str, name: str) -> Found:
    """Keys with an end, out of an answer."""
    keys = Names("AccessKeyId", "SecretAccessKey", (token,))
    values = [files.words(found, key) for key in (keys.key_id, keys.secret, token)]
    if not all(values):
        raise wrong(name, "the answer holds no whole credentials")
    expires = web.moment(found.get("Expiration"), name)
    return Credentials(values[0], Secret(values[1]), Secret(values[2]), expires, name)


def _shared_files(options: CredentialOptions) -> Answer:
    environ, home = options.environ, options.home
    profile = profile_named(options) or "default"
    kept = Path(environ.get("AWS_SHARED_CREDENTIALS_FILE") or home / ".aws" / "credentials")
    settings = Path(environ.get("AWS_CONFIG_FILE") or home / ".aws" / "config")
    kept, settings = kept.expanduser(), settings.expanduser()
    keys = (files.ini(kept, options.shown(kept)) or {}).get(profile)
    config = (files.ini(settings, options.shown(settings)) or {}).get(
        "default" if profile == "default" else f"profile {profile}"
    )
    if keys is None and config is None:
        return Absent(f"no profile {profile}")
    foreign = [key for key in FOREIGN if (config or {}).get(key) or (keys or {}).get(key)]
    by_botocore = Ask(
        f"{options.shown(settings)} [{profile}]",
        partial(_by_botocore, options, profile, kept, settings),
    )
    if foreign:
        return by_botocore
    for path, section in ((kept, keys), (settings, config)):
        where = f"{options.shown(path)} [{profile}]"
        answer = paired(where, FILE, _static(section or {}, where))
        if isinstance(answer, Credentials):
            return answer
        if (section or {}).get("credential_process"):
            return by_botocore
    return Absent(f"the profile {profile} has no keys")


def _static(section: dict[str, str], where: str) -> Credentials:
    key_id, secret = section.get(FILE.key_id, ""), section.get(FILE.secret, "")
    return Credentials(
        key_id, Secret(secret), Secret(files.words(section, *FILE.tokens)), None, where
    )


def _by_botocore(options: CredentialOptions, profile: str, kept: Path, settings: Path) -> Found:
    """A profile that says how to get credentials rather than what they are."""
    where = f"{options.shown(settings)} [{profile}]"
    try:
        from botocore.session import Session
    except ImportError as problem:
        raise MissingExtra(purpose=where, package="botocore", extra="s3") from problem
    try:
        session = Session(profile=profile)
        session.set_config_variable("credentials_file", str(kept))
        session.set_config_variable("config_file", str(settings))
        found = session.get_credentials()
        keys = found.get_frozen_credentials() if found else None
    except Exception as problem:  # noqa: BLE001  botocore's, and those of what it runs
        said = redacted(" ".join(str(problem).split()))[:200]
        raise wrong(where, said or type(problem).__name__) from None
    if keys is None:
        return Absent(f"botocore finds no credentials in the profile {profile}")
    ends = getattr(found, "_expiry_time", None)  # of its RefreshableCredentials
    return Credentials(
        keys.access_key,
        Secret(keys.secret_key),
        Secret(keys.token or ""),
        ends.timestamp() if ends else None,
        where,
    )


def _container(options: CredentialOptions) -> Answer:
    """ECS tasks and EKS pods: an address in the environment, answered with JSON."""
    environ = options.environ
    relative = environ.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
    url = environ.get("AWS_CONTAINER_CREDENTIALS_FULL_URI")
    if relative:
        url = f"{options.metadata_endpoint or CONTAINER}/{relative.removeprefix('/')}"
    if not url:
        return Absent("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and _FULL_URI are not set")
    if not relative:
        _check_container_host(url, "container")
    return Ask("container", partial(_of_container, options, url))


def _of_container(options: CredentialOptions, url: str) -> Found:
    environ, name = options.environ, "container"
    headers = {"Accept": "application/json"}
    token = environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN", "")
    if path := environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"):
        token = files.text(Path(path), path) or ""
    if token:
        headers["Authorization"] = token.strip()
    try:
        reply = web.metadata(web.Question(url, headers))
    except web.Unreachable as problem:
        raise wrong(name, str(problem)) from None
    if reply.status != 200:
        raise wrong(name, f"refused with {reply.status}")
    return _temporary(web.document(reply, name), "Token", name)


def _check_container_host(url: str, name: str) -> None:
    """Keys that travel unencrypted may come from this machine and its link only."""
    import ipaddress
    from urllib.parse import urlsplit

    host = urlsplit(url).hostname or ""
    if url.startswith("https://") or host in CONTAINER_HOSTS:
        return
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return
    raise wrong(name, f"AWS_CONTAINER_CREDENTIALS_FULL_URI names {host}, without https")


def _instance(options: CredentialOptions) -> Answer:
    """The role of an EC2 instance, by version 2 of its metadata service."""
    environ, name = options.environ, "instance role"
    if environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        return Absent("AWS_EC2_METADATA_DISABLED is set")
    base = options.metadata_endpoint or environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT")
    if not base:
        mode = environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "").lower()
        base = INSTANCE_V6 if mode == "ipv6" else INSTANCE
    return Ask(name, partial(_of_instance, base.rstrip("/"), name))


def _of_instance(base: str, name: str) -> Found:
    asking = {"x-aws-ec2-metadata-token-ttl-seconds": TOKEN_SECONDS}
    try:
        token = web.metadata(web.Question(f"{base}/latest/api/token", asking, method="PUT"))
        if token.status != 200:
            return Absent(f"the metadata service answers {token.status}")
        headers = {"x-aws-ec2-metadata-token": token.text}
        roles = web.metadata(web.Question(base + ROLES, headers))
        role = roles.text.partition("\n")[0].strip()
        if roles.status != 200 or not role:
            return Absent("this instance has no role")
        reply = web.metadata(web.Question(base + ROLES + _quoted(role), headers))
    except web.Unreachable as problem:
        return Absent(f"no metadata service: {problem}")
    found = web.document(reply, name)
    if found.get("Code") != "Success":
        raise wrong(name, f"{role}: the metadata service says {found.get('Code')!r}")
    return _temporary(found, "Token", f"{name} {role}")


def _quoted(role: str) -> str:
    from urllib.parse import quote

    return quote(role, safe="")
