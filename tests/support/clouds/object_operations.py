"""Operations on one object: get, head, put, copy, delete.

OSS ignores a range that leaves the object and sends the whole with 200, unless the client
sends `x-oss-range-behavior: standard` (document 39571, "How to obtain OSS resources by
segmenting HTTP range requests"); whether it does so to S3 clients too is not documented,
and taken to be so here: who can bear that can bear both.
"""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime
from urllib.parse import unquote

from tests.support.clouds import digests
from tests.support.clouds.dialects import Call, http_date, taken
from tests.support.clouds.http_server import Response
from tests.support.clouds.keyring import iso_time
from tests.support.clouds.objects import Stored, Taken
from tests.support.clouds.refusals import Refused
from tests.support.clouds.xml_answers import document

KEPT = ("content-type", "content-encoding", "content-disposition", "cache-control")
NOT_IMPLEMENTED = "A header you provided implies functionality that is not implemented."


def get(call: Call) -> Response:
    """The object, or the range of it that was asked for."""
    stored = call.stored()
    headers = described(call, stored)
    _check_conditions(call, stored)
    said = call.request.headers.get("range")
    span = _span(call, said, len(stored.data)) if said else None
    if span is None:
        return Response(200, headers, stored.data)
    start, stop = span
    headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(stored.data)}"
    headers.pop("Content-MD5", None)
    return Response(206, headers, memoryview(stored.data)[start:stop])


def head(call: Call) -> Response:
    """What is known of the object; the server drops the body of the answer."""
    stored = call.stored()
    _check_conditions(call, stored)
    return Response(200, described(call, stored), stored.data)


def put(call: Call) -> Response:
    """Store the body, or copy another object when the request names one."""
    if call.own("copy-source") is not None:
        return _copy(call)
    check_put_headers(call)
    check_md5(call)
    stored = _write(call, call.request.body, kept(call), "0026-00000002")
    headers = call.written(stored)
    headers["Content-MD5"] = digests.etag_base64(stored.etag)
    return Response(200, headers)


def delete(call: Call) -> Response:
    """Remove the object; 204 whether or not there was one."""
    call.bucket.delete(call.request.key)
    return Response(204)


def described(call: Call, stored: Stored) -> dict[str, str]:
    """The headers that describe an object."""
    headers = {
        **call.written(stored),
        "Last-Modified": http_date(stored.modified),
        "Accept-Ranges": "bytes",
        "Content-Type": "application/octet-stream",
        f"{call.dialect.own}storage-class": "STANDARD"
        if call.dialect.own == "x-amz-"
        else "Standard",
    }
    if call.dialect.own == "x-oss-":
        headers["x-oss-object-type"] = stored.kind
    if stored.kind == "Normal" and call.dialect.vendor == "x-oss-":
        headers["Content-MD5"] = digests.etag_base64(stored.etag)
    for name, value in stored.headers.items():
        meta = name.startswith("meta-")
        headers[f"{call.dialect.own}{name}" if meta else name.title()] = value
    return headers


def kept(call: Call) -> dict[str, str]:
    """The headers of a write that stay with the object."""
    headers = call.request.headers
    own = call.dialect.own + "meta-"
    found = {name: headers[name] for name in KEPT if name in headers}
    for name, value in headers.items():
        if name.startswith(own):
            found[name.removeprefix(call.dialect.own)] = value
    return found


def check_put_headers(call: Call) -> None:
    """Refuse conditions on a write where the cloud has none.

    OSS: EC 0017-00000245; its document says 400, 501 is what was seen (tobi/walgit#67).
    """
    headers = call.request.headers
    said = [name for name in ("if-match", "if-none-match", "if-modified-since") if name in headers]
    if said and not call.dialect.conditional_put:
        details = {"Header": said[0].title()}
        raise Refused(501, "NotImplemented", NOT_IMPLEMENTED, "0017-00000245", details)


def check_md5(call: Call) -> None:
    """Refuse a body that is not the one whose Content-MD5 was sent."""
    said = call.request.headers.get("content-md5")
    if said is not None and said != digests.md5_base64(call.request.body):
        message = "The Content-MD5 you specified was invalid."
        raise Refused(400, "InvalidDigest", message, "0017-00000503", {"Content-MD5": said})


def source_of(call: Call) -> Stored:
    """The object that a copy names as its source."""
    said = unquote(call.own("copy-source") or "").removeprefix("/")
    place, _, key = said.partition("/")
    key = key.partition("?versionId=")[0]
    name = place.partition(".cos.")[0]  # COS names the source's host, OSS and S3 its bucket
    bucket = call.buckets.get(name)
    stored = bucket.get(key) if bucket is not None else None
    if stored is None:
        raise Refused(404, "NoSuchKey", "The specified key does not exist.", "0026-00000001")
    return stored


def _copy(call: Call) -> Response:
    source = source_of(call)
    replaced = (call.own("metadata-directive") or "").upper() == "REPLACE"
    stored = _write(call, source.data, kept(call) if replaced else source.headers, "0026-00000002")
    body = document(
        "CopyObjectResult",
        ("ETag", call.etag(stored.etag)),
        ("LastModified", iso_time(stored.modified)),
    )
    return Response(200, {**call.written(stored), "Content-Type": "application/xml"}, body)


def _write(call: Call, data: bytes, headers: object, ec: str) -> Stored:
    key, forbid = call.request.key, call.forbids_overwrite()
    if forbid and call.dialect.racing_seconds:
        if key in call.bucket:
            raise taken(ec)
        time.sleep(call.dialect.racing_seconds)
        forbid = False  # the check is done; what came in between is overwritten
    try:
        return call.bucket.put(key, data, dict(headers), call.clock.now(), forbid=forbid)
    except Taken:
        raise taken(ec) from None


def _check_conditions(call: Call, stored: Stored) -> None:
    headers = call.request.headers
    if "if-match" in headers and not _matches(headers["if-match"], stored):
        raise _failed(call, "If-Match")
    if "if-none-match" in headers and _matches(headers["if-none-match"], stored):
        raise Refused(304, "NotModified", "Not Modified")
    if "if-unmodified-since" in headers and stored.modified > _moment(
        headers["if-unmodified-since"]
    ):
        raise _failed(call, "If-Unmodified-Since")
    if "if-modified-since" in headers and stored.modified <= _moment(headers["if-modified-since"]):
        raise Refused(304, "NotModified", "Not Modified")


def _failed(call: Call, condition: str) -> Refused:
    message = "At least one of the pre-conditions you specified did not hold."
    return Refused(412, "PreconditionFailed", message, "0026-00000003", {"Condition": condition})


def _matches(said: str, stored: Stored) -> bool:
    names = {each.strip().strip('"').lower() for each in said.split(",")}
    return "*" in names or stored.etag in names


def _moment(text: str) -> float:
    try:
        return parsedate_to_datetime(text).timestamp()
    except ValueError:
        raise Refused(400, "InvalidArgument", "The date is not one.") from None


def _span(call: Call, said: str, size: int) -> tuple[int, int] | None:
    """Where a range starts and stops; None where it is ignored and the whole is sent."""
    standard = (call.vendor("range-behavior") or "").lower() == "standard"
    lax = call.dialect.lax_ranges and not standard
    match = re.fullmatch(r"bytes=(\d*)-(\d*)(?:,.*)?", said.strip())
    if match is None or match[1] + match[2] == "":
        return None
    if match[1] == "":
        start, stop, inside = max(size - int(match[2]), 0), size, 0 < int(match[2]) <= size
    else:
        start = int(match[1])
        stop = min(int(match[2]) + 1, size) if match[2] else size
        inside = start < size and (not match[2] or start <= int(match[2]) < size)
    if lax and not inside:
        return None
    if start >= stop:
        if not lax and match[2] and match[1] and int(match[2]) < start:
            return None  # last before first: no range at all, RFC 9110 section 14.1.1
        details = {"ActualObjectSize": str(size), "RangeRequested": said}
        message = "The requested range cannot be satisfied."
        raise Refused(416, "InvalidRange", message, "0026-00000017", details)
    return start, stop
