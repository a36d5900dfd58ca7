"""What a store's refusal means: one table of codes and statuses for every dialect.

Codes are those of the vendors' pages of error responses: S3, OSS and COS share most of them.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from stager.errors import (
    AccessDenied,
    CredentialsExpired,
    ObjectNotFound,
    PreconditionFailed,
    StorageError,
    StorageThrottled,
    StorageUnavailable,
)
from stager.storage.credentials.redaction import redacted

SHOWN = 500  # characters of a store's own words

_EXPIRED = frozenset(
    {
        *("ExpiredToken", "ExpiredTokenException", "SecurityTokenExpired", "RequestExpired"),
        *("InvalidToken", "InvalidSecurityToken", "TokenRefreshRequired"),
    }
)
_DENIED = frozenset({"AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch"})
_THROTTLED = frozenset(
    {
        *("SlowDown", "Throttling", "RequestLimitExceeded", "TooManyRequests", "QpsLimitExceeded"),
        *("DownloadTrafficRateLimitExceeded", "UploadTrafficRateLimitExceeded"),
    }
)
_TRANSIENT = frozenset(
    {"RequestTimeout", "InternalError", "ServiceUnavailable", "OperationAborted"}
)
_EXISTS = frozenset({"FileAlreadyExists", "PreconditionFailed"})
_NOWHERE = frozenset({"NoSuchBucket"})
_MISSING = frozenset({"NoSuchKey", "NoSuchUpload"})
_TRANSIENT_STATUS = (408, 425)
_ELSEWHERE = "the bucket lies in another region: set `region`"
_HINTS = {
    "SecondLevelDomainForbidden": 'set addressing = "virtual"',
    "PathStyleDomainForbidden": 'set addressing = "virtual"',
    "PermanentRedirect": _ELSEWHERE,
    "AuthorizationHeaderMalformed": _ELSEWHERE,
    "IncorrectEndpoint": _ELSEWHERE,
    "NoSuchBucket": "buckets are made in the vendor's console, not by stager",
}
V1_REFUSED = "0002-00000080"
_V1_HINT = "this transport signs V1, which OSS refuses of new accounts: leave `transport` at auto"

_ENDPOINT = re.compile(r"<Endpoint>([\w.:-]+)</Endpoint>")
_SERVER_TIME = re.compile(r"<ServerTime>([^<]+)</ServerTime>")
_REQUEST_TIME = re.compile(r"<RequestTime>([^<]+)</RequestTime>")


class Answer(NamedTuple):
    """A refusal: the HTTP status (0 when unknown), the code in its XML, and all its words."""

    status: int
    code: str
    words: str


def meaning(answer: Answer, url: str) -> StorageError | None:
    """The error an answer stands for; None when it says nothing that is known."""
    text = redacted(" ".join(answer.words.split()))[:SHOWN]
    if (known := _by_code(answer, url, text)) is not None:
        return known
    return _by_status(answer, url, text)


def _by_code(answer: Answer, url: str, text: str) -> StorageError | None:
    code = answer.code
    if code == "RequestTimeTooSkewed":
        hint = _clock_hint(answer.words)
        return AccessDenied(url=url, reason="the clocks differ too much", hint=hint)
    kinds: list[tuple[frozenset[str], type[StorageError]]] = [
        (_EXPIRED, CredentialsExpired),
        (_DENIED, AccessDenied),
        (_THROTTLED, StorageThrottled),
        (_TRANSIENT, StorageUnavailable),
        (_EXISTS, PreconditionFailed),
        (_MISSING, ObjectNotFound),
        (_NOWHERE, StorageError),
    ]
    kind = next((kind for codes, kind in kinds if code in codes), None)
    if kind is None:
        return None
    return kind(url=url, reason=text, hint=_hint(answer))


def _by_status(answer: Answer, url: str, text: str) -> StorageError | None:
    status, hint = answer.status, _hint(answer)
    if status in (401, 403):
        return AccessDenied(url=url, reason=text, hint=hint)
    if status == 404:
        return ObjectNotFound(url=url)
    if status in (409, 412):
        return PreconditionFailed(url=url)
    if status == 416:
        return StorageError(url=url, reason="the range lies past the end of the object")
    if status in (429, 503):
        return StorageThrottled(url=url, reason=text)
    if 300 <= status < 400:
        return StorageError(url=url, reason=text, hint=hint or _ELSEWHERE)
    if (400 <= status < 500 and status not in _TRANSIENT_STATUS) or status == 501:
        return StorageError(url=url, reason=text, hint=hint)
    return StorageUnavailable(url=url, reason=text) if status else None


def _hint(answer: Answer) -> str:
    if V1_REFUSED in answer.words:
        return _V1_HINT
    if (elsewhere := _ENDPOINT.search(answer.words)) is not None:
        return f"the bucket answers at {elsewhere[1]}: set `endpoint` or `region`"
    return _HINTS.get(answer.code, "")


def _clock_hint(answer: str) -> str:
    """By how much this machine's clock is off, as far as the answer tells."""
    asked, told = _REQUEST_TIME.search(answer), _SERVER_TIME.search(answer)
    ours, theirs = (_moment(found[1]) if found else None for found in (asked, told))
    if ours is None or theirs is None:
        return "this machine's clock is wrong: set it"
    seconds = round((ours - theirs).total_seconds())
    side = "ahead" if seconds > 0 else "behind"
    return f"this machine's clock is {abs(seconds)} s {side}: set it"


def _moment(text: str) -> datetime | None:
    for form in ("%Y%m%dT%H%M%S%z", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S.%f%z"):
        try:
            return datetime.strptime(text.replace("Z", "+0000"), form)
        except ValueError:
            continue
    return None
