"""The V1 signature of OSS, checked, for buckets old enough to take it.

https://www.alibabacloud.com/help/en/oss/developer-reference/include-signatures-in-the-authorization-header
and, for URLs, add-signatures-to-urls there: HMAC-SHA1 over the verb, Content-MD5,
Content-Type, the date (or Expires), the x-oss-* headers and the resource with those
parameters of the query that name a sub-resource.
"""

from __future__ import annotations

import base64
import hmac
from email.utils import parsedate_to_datetime

from tests.support.clouds.http_server import Request
from tests.support.clouds.keyring import Clock, Keyring
from tests.support.clouds.refusals import AuthFailure, Fault

# Those of the documented sub-resources that this server, or a client here, knows of.
SUBRESOURCES = frozenset(
    [
        *("acl", "append", "bucketInfo", "continuation-token", "delete", "location"),
        *("objectMeta", "partNumber", "position", "response-content-type"),
        *("response-content-disposition", "response-cache-control", "restore"),
        *("security-token", "stat", "symlink", "tagging", "uploadId", "uploads"),
        *("versionId", "versioning", "versions", "x-oss-process"),
    ]
)


def carried_by(request: Request) -> bool:
    """Whether the request is signed this way, rightly or not."""
    header = request.headers.get("authorization", "")
    return header.startswith("OSS ") or "OSSAccessKeyId" in request.query


def verify(request: Request, bucket: str | None, keyring: Keyring, clock: Clock) -> str:
    """The id of the key that signed for this bucket; AuthFailure says what is wrong."""
    if "OSSAccessKeyId" in request.query:
        key_id = request.query["OSSAccessKeyId"]
        signature, date = request.query.get("Signature", ""), request.query.get("Expires", "0")
        token = request.query.get("security-token")
        if clock.now() > float(date):
            raise AuthFailure(Fault.OVERDUE)
    else:
        key_id, _, signature = request.headers["authorization"][len("OSS ") :].partition(":")
        token = request.headers.get("x-oss-security-token")
        date = request.headers.get("x-oss-date") or request.headers.get("date", "")
        try:
            clock.check(parsedate_to_datetime(date).timestamp())
        except ValueError:
            raise AuthFailure(Fault.MALFORMED) from None
    secret = keyring.secret(key_id, token)
    text = _text(request, bucket, date)
    expected = base64.b64encode(hmac.digest(secret.encode(), text, "sha1")).decode()
    if not hmac.compare_digest(expected, signature):
        raise AuthFailure(Fault.SIGNATURE)
    return key_id


def _text(request: Request, bucket: str | None, date: str) -> bytes:
    headers = request.headers
    own = sorted(name for name in headers if name.startswith("x-oss-"))
    resource = "/" if bucket is None else f"/{bucket}/{request.key}"
    parts = sorted((n, v) for n, v in request.pairs if n in SUBRESOURCES)
    query = "&".join(f"{name}={value}" if value else name for name, value in parts)
    head = "\n".join(
        [
            request.method,
            headers.get("content-md5", ""),
            headers.get("content-type", ""),
            date,
            "".join(f"{name}:{headers[name]}\n" for name in own),
        ]
    )
    tail = resource + (f"?{query}" if query else "")
    return head.encode("latin-1") + tail.encode("utf-8", "surrogateescape")
