"""The V4 signature of OSS, checked: in the Authorization header or in the query of a URL.

https://help.aliyun.com/en/oss/developer-reference/recommend-to-use-signature-version-4 and
add-signatures-to-urls there. Signed are every x-oss-* header, Content-Type, Content-MD5 and
the additional headers; the path with the bucket before it; the payload as UNSIGNED-PAYLOAD,
the only value the service takes (EC 0002-00000214).
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from tests.support.clouds.http_server import Request
from tests.support.clouds.keyring import Clock, Keyring, basic_time
from tests.support.clouds.refusals import AuthFailure, Fault
from tests.support.clouds.sigv4 import derived, encoded_path, encoded_query, fields, scope_of

ALGORITHM = "OSS4-HMAC-SHA256"
ALWAYS = {"content-type", "content-md5"}
UNSIGNED = "UNSIGNED-PAYLOAD"


@dataclass(frozen=True)
class _Claim:
    key_id: str
    scope: list[str]  # date, region, product, aliyun_v4_request
    additional: list[str]
    signature: str
    moment: str
    token: str | None
    expires: float | None


def carried_by(request: Request) -> bool:
    """Whether the request is signed this way, rightly or not."""
    header = request.headers.get("authorization", "")
    return header.startswith("OSS4-") or "x-oss-signature-version" in request.query


def verify(
    request: Request, bucket: str | None, region: str | None, keyring: Keyring, clock: Clock
) -> str:
    """The id of the key that signed for this bucket; AuthFailure says what is wrong.

    `region` is the bucket's; None (no bucket is named) takes any.
    """
    in_query = "x-oss-signature-version" in request.query
    claim = _from_query(request) if in_query else _from_header(request)
    moment = basic_time(claim.moment)
    if claim.expires is None:
        clock.check(moment)
    elif clock.now() > moment + claim.expires:
        raise AuthFailure(Fault.OVERDUE)
    date, said_region, product, last = claim.scope
    if (date, product, last) != (claim.moment[:8], "oss", "aliyun_v4_request"):
        raise AuthFailure(Fault.MALFORMED)
    if region not in {None, said_region}:
        raise AuthFailure(Fault.REGION)
    if request.headers.get("x-oss-content-sha256", UNSIGNED) != UNSIGNED:
        raise AuthFailure(Fault.PAYLOAD)
    secret = keyring.secret(claim.key_id, claim.token)
    if not hmac.compare_digest(_signature(request, bucket, claim, secret), claim.signature):
        raise AuthFailure(Fault.SIGNATURE)
    return claim.key_id


def _from_header(request: Request) -> _Claim:
    algorithm, _, rest = request.headers["authorization"].partition(" ")
    said = fields(rest)
    if algorithm != ALGORITHM or not {"Credential", "Signature"} <= said.keys():
        raise AuthFailure(Fault.MALFORMED)
    key_id, scope = scope_of(said["Credential"])
    return _Claim(
        key_id,
        scope,
        [name for name in said.get("AdditionalHeaders", "").split(";") if name],
        said["Signature"],
        moment=request.headers.get("x-oss-date", ""),
        token=request.headers.get("x-oss-security-token"),
        expires=None,
    )


def _from_query(request: Request) -> _Claim:
    said = request.query
    names = {f"x-oss-{name}" for name in ("credential", "date", "expires", "signature")}
    if said["x-oss-signature-version"] != ALGORITHM or not names <= said.keys():
        raise AuthFailure(Fault.MALFORMED)
    key_id, scope = scope_of(said["x-oss-credential"])
    return _Claim(
        key_id,
        scope,
        [name for name in said.get("x-oss-additional-headers", "").split(";") if name],
        said["x-oss-signature"],
        moment=said["x-oss-date"],
        token=said.get("x-oss-security-token"),
        expires=float(said["x-oss-expires"]),
    )


def _signature(request: Request, bucket: str | None, claim: _Claim, secret: str) -> str:
    signed = {
        name: value.strip()
        for name, value in request.headers.items()
        if name.startswith("x-oss-") or name in ALWAYS or name in claim.additional
    }
    path = request.path if bucket is None else f"/{bucket}{request.path}"
    canonical = "\n".join(
        [
            request.method,
            encoded_path(path),
            encoded_query(request, "x-oss-signature", bare=True),
            "".join(f"{name}:{signed[name]}\n" for name in sorted(signed)),
            ";".join(sorted(claim.additional)),
            UNSIGNED,
        ]
    )
    digest = hashlib.sha256(canonical.encode("latin-1")).hexdigest()
    text = "\n".join([ALGORITHM, claim.moment, "/".join(claim.scope), digest])
    return hmac.digest(derived("aliyun_v4", secret, claim.scope), text.encode(), "sha256").hex()
