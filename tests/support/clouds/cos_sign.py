"""The signature of COS (`q-sign-algorithm=sha1`), checked: in the header or in the query.

https://cloud.tencent.com/document/product/436/7778. The client says which headers and
parameters it signed and for which span of time. What a client leaves out of the list is not
protected, so this server wants the host and every x-cos-* header in it; the host with or
without its port, because the official SDK signs it without.
"""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import parse_qsl, quote

from tests.support.clouds.http_server import Request
from tests.support.clouds.keyring import MAX_SKEW_SECONDS, Clock, Keyring
from tests.support.clouds.refusals import AuthFailure, Fault

NAMES = frozenset(
    [
        *("q-sign-algorithm", "q-ak", "q-sign-time", "q-key-time"),
        *("q-header-list", "q-url-param-list", "q-signature"),
    ]
)
UNRESERVED = "-_.~"


def carried_by(request: Request) -> bool:
    """Whether the request is signed this way, rightly or not."""
    header = request.headers.get("authorization", "")
    return header.startswith("q-sign-algorithm=") or "q-signature" in request.query


def verify(request: Request, keyring: Keyring, clock: Clock) -> str:
    """The id of the key that signed the request; AuthFailure says what is wrong."""
    in_query = "q-signature" in request.query
    said = request.query if in_query else _fields(request.headers["authorization"])
    if not said.keys() >= NAMES or said["q-sign-algorithm"] != "sha1":
        raise AuthFailure(Fault.MALFORMED)
    _check_time(said["q-sign-time"], clock)
    _check_time(said["q-key-time"], clock)
    token = request.headers.get("x-cos-security-token") or request.query.get("x-cos-security-token")
    secret = keyring.secret(said["q-ak"], token)
    hosts = {request.headers.get("host", ""), request.headers.get("host", "").partition(":")[0]}
    if not any(
        hmac.compare_digest(_signature(request, said, secret, host), said["q-signature"])
        for host in hosts
    ):
        raise AuthFailure(Fault.SIGNATURE)
    return said["q-ak"]


def _fields(header: str) -> dict[str, str]:
    return dict(parse_qsl(header, keep_blank_values=True))


def _check_time(span: str, clock: Clock) -> None:
    """Refuse a span that has not begun or is over."""
    start, _, end = span.partition(";")
    if not (start.isdecimal() and end.isdecimal()):
        raise AuthFailure(Fault.MALFORMED)
    now = clock.now()
    if int(start) - now > MAX_SKEW_SECONDS:
        clock.check(int(start))
    if not int(start) <= now <= int(end):
        raise AuthFailure(Fault.OVERDUE)


def _signature(request: Request, said: dict[str, str], secret: str, host: str) -> str:
    names = [name for name in said["q-header-list"].split(";") if name]
    own = {name for name in request.headers if name.startswith("x-cos-")}
    if "host" not in names or ("q-signature" not in request.query and own - set(names)):
        raise AuthFailure(Fault.MALFORMED)
    headers = {**request.headers, "host": host}
    parameters = [name for name in said["q-url-param-list"].split(";") if name]
    given = {_encoded(name).lower(): value for name, value in request.pairs}
    text = "\n".join(
        [
            request.method.lower(),
            f"/{request.key}",
            "&".join(f"{name}={_encoded(given.get(name, ''))}" for name in parameters),
            "&".join(f"{name}={_encoded_header(headers.get(name, ''))}" for name in names),
            "",
        ]
    )
    digest = hashlib.sha1(text.encode("utf-8", "surrogateescape"), usedforsecurity=False)
    to_sign = f"sha1\n{said['q-sign-time']}\n{digest.hexdigest()}\n"
    key = hmac.digest(secret.encode(), said["q-key-time"].encode(), "sha1").hex()
    return hmac.digest(key.encode(), to_sign.encode(), "sha1").hex()


def _encoded(text: str) -> str:
    return quote(text, safe=UNRESERVED, errors="surrogateescape")


def _encoded_header(value: str) -> str:
    return quote(value.encode("latin-1"), safe=UNRESERVED)
