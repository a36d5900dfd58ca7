"""AWS Signature Version 4, checked: the S3 dialect of both clouds.

https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html, and for
presigned URLs sigv4-query-string-auth.html beside it. S3 encodes the path once and does not
normalise it. A temporary key sends its token in x-amz-security-token.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

from tests.support.clouds.http_server import Request
from tests.support.clouds.keyring import Clock, Keyring, basic_time
from tests.support.clouds.refusals import AuthFailure, Fault

ALGORITHM = "AWS4-HMAC-SHA256"
UNSIGNED = "UNSIGNED-PAYLOAD"
UNRESERVED = "-_.~"


@dataclass(frozen=True)
class _Claim:
    """What a request says of its signature, from the header or the query."""

    key_id: str
    scope: list[str]  # date, region, service, aws4_request
    signed: list[str]
    signature: str
    moment: str
    token: str | None
    payload: str
    expires: float | None


def carried_by(request: Request) -> bool:
    """Whether the request is signed this way, rightly or not."""
    header = request.headers.get("authorization", "")
    return header.startswith("AWS4-") or "X-Amz-Algorithm" in request.query


def verify(request: Request, keyring: Keyring, clock: Clock) -> str:
    """The id of the key that signed the request; AuthFailure says what is wrong."""
    claim = _from_query(request) if "X-Amz-Algorithm" in request.query else _from_header(request)
    moment = basic_time(claim.moment)
    if claim.expires is None:
        clock.check(moment)
    elif clock.now() > moment + claim.expires:
        raise AuthFailure(Fault.OVERDUE)
    date, _region, service, last = claim.scope
    if (date, service, last) != (claim.moment[:8], "s3", "aws4_request"):
        raise AuthFailure(Fault.REGION)
    secret = keyring.secret(claim.key_id, claim.token)
    if not hmac.compare_digest(_signature(request, claim, secret), claim.signature):
        raise AuthFailure(Fault.SIGNATURE)
    if claim.payload != UNSIGNED and claim.payload != hashlib.sha256(request.body).hexdigest():
        raise AuthFailure(Fault.PAYLOAD)
    return claim.key_id


def fields(text: str) -> dict[str, str]:
    """The `name=value` pairs of an Authorization header, divided by commas."""
    pairs = (part.strip().partition("=") for part in text.split(","))
    return {name: value for name, _, value in pairs}


def scope_of(credential: str) -> tuple[str, list[str]]:
    """The key id and the four parts of the scope of a Credential."""
    key_id, *scope = credential.rsplit("/", 4)
    if len(scope) != 4:
        raise AuthFailure(Fault.MALFORMED)
    return key_id, scope


def derived(prefix: str, secret: str, scope: list[str]) -> bytes:
    """The signing key of a scope: HMAC-SHA256 along its parts."""
    key = f"{prefix}{secret}".encode()
    for part in scope:
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def encoded_path(path: str) -> str:
    """The path of a request as both version 4 signatures want it encoded."""
    return quote(unquote_to_bytes(path), safe="/" + UNRESERVED)


def encoded_query(request: Request, without: str, *, bare: bool) -> str:
    """The query sorted and encoded, less one name; `bare` drops the `=` of an empty value."""
    pairs = sorted(
        (quote(name, safe=UNRESERVED), quote(value, safe=UNRESERVED))
        for name, value in request.pairs
        if name != without
    )
    return "&".join(name if bare and not value else f"{name}={value}" for name, value in pairs)


def _from_header(request: Request) -> _Claim:
    algorithm, _, rest = request.headers["authorization"].partition(" ")
    said = fields(rest)
    if algorithm != ALGORITHM or not {"Credential", "SignedHeaders", "Signature"} <= said.keys():
        raise AuthFailure(Fault.MALFORMED)
    key_id, scope = scope_of(said["Credential"])
    signed = said["SignedHeaders"].split(";")
    own = {name for name in request.headers if name.startswith("x-amz-")}
    if "host" not in signed or own - set(signed):
        raise AuthFailure(Fault.MALFORMED)
    return _Claim(
        key_id,
        scope,
        signed,
        said["Signature"],
        moment=request.headers.get("x-amz-date", ""),
        token=request.headers.get("x-amz-security-token"),
        payload=request.headers.get("x-amz-content-sha256", ""),
        expires=None,
    )


def _from_query(request: Request) -> _Claim:
    said = request.query
    names = {f"X-Amz-{name}" for name in ("Credential", "Date", "Expires", "SignedHeaders")}
    if said["X-Amz-Algorithm"] != ALGORITHM or not {*names, "X-Amz-Signature"} <= said.keys():
        raise AuthFailure(Fault.MALFORMED)
    key_id, scope = scope_of(said["X-Amz-Credential"])
    return _Claim(
        key_id,
        scope,
        said["X-Amz-SignedHeaders"].split(";"),
        said["X-Amz-Signature"],
        moment=said["X-Amz-Date"],
        token=said.get("X-Amz-Security-Token"),
        payload=UNSIGNED,
        expires=float(said["X-Amz-Expires"]),
    )


def _signature(request: Request, claim: _Claim, secret: str) -> str:
    lines = "".join(
        f"{name}:{' '.join(request.headers.get(name, '').split())}\n" for name in claim.signed
    )
    canonical = "\n".join(
        [
            request.method,
            encoded_path(request.path),
            encoded_query(request, "X-Amz-Signature", bare=False),
            lines,
            ";".join(claim.signed),
            claim.payload,
        ]
    )
    digest = hashlib.sha256(canonical.encode("latin-1")).hexdigest()
    text = "\n".join([ALGORITHM, claim.moment, "/".join(claim.scope), digest])
    return hmac.digest(derived("AWS4", secret, claim.scope), text.encode(), "sha256").hex()
