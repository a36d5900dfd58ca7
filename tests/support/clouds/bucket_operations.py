"""Operations on a bucket: lists, the deletion of many, what is asked about it.

OSS lists 100 keys when the client names no number and refuses more than 1000 (GetBucket and
ListObjectsV2 of its API reference). Multi-object deletion must carry Content-MD5; without it
OSS says MissingArgument (stormkit-io/stormkit-io#142).
"""

from __future__ import annotations

from tests.support.clouds.dialects import MAX_KEYS, Call
from tests.support.clouds.http_server import Response
from tests.support.clouds.keyring import iso_time
from tests.support.clouds.object_operations import check_md5
from tests.support.clouds.objects import Page
from tests.support.clouds.refusals import Refused
from tests.support.clouds.xml_answers import document, element, parsed, texts

OWNER = "1234567890"


def list_objects(call: Call) -> Response:
    """One page of the keys, in either version of the listing."""
    second = call.request.query.get("list-type") == "2"
    return _list_v2(call) if second else _list_v1(call)


def head_bucket(call: Call) -> Response:
    """That the bucket is there, and where."""
    return Response(200, {f"{call.dialect.own}bucket-region": call.bucket.region})


def location(call: Call) -> Response:
    """Where the bucket is; OSS puts `oss-` before the region."""
    prefix = "oss-" if call.dialect.vendor == "x-oss-" else ""
    return _answer(f"<LocationConstraint>{prefix}{call.bucket.region}</LocationConstraint>")


def versioning(call: Call) -> Response:
    """Whether the bucket keeps versions; the element is missing where it never did."""
    state = [("Status", "Enabled")] if call.bucket.versioning else []
    return _answer(element("VersioningConfiguration", *state))


def information(call: Call) -> Response:
    """GetBucketInfo of OSS, as far as clients read it."""
    bucket, region = call.bucket, call.bucket.region
    return _answer(
        element(
            "BucketInfo",
            element(
                "Bucket",
                ("Name", bucket.name),
                ("Location", f"oss-{region}"),
                ("ExtranetEndpoint", f"oss-{region}.aliyuncs.com"),
                ("IntranetEndpoint", f"oss-{region}-internal.aliyuncs.com"),
                ("StorageClass", "Standard"),
                ("Versioning", "Enabled" if bucket.versioning else ""),
                ("CreationDate", iso_time(0)),
                element("Owner", ("ID", OWNER), ("DisplayName", OWNER)),
                element("AccessControlList", ("Grant", "private")),
            ),
        )
    )


def access(call: Call) -> Response:
    """The access list of a bucket or an object: private."""
    return _answer(
        element(
            "AccessControlPolicy",
            element("Owner", ("ID", OWNER), ("DisplayName", OWNER)),
            element("AccessControlList", ("Grant", "private")),
        )
    )


def delete_many(call: Call) -> Response:
    """Remove up to 1000 keys in one request."""
    if "content-md5" not in call.request.headers:
        details = {"ArgumentName": "Content-MD5"}
        message = "Missing Some Required Arguments."
        raise Refused(400, "MissingArgument", message, "0016-00000502", details)
    check_md5(call)
    root = parsed(call.request.body)
    keys = list(texts(root, "Object", "Key"))
    if not 1 <= len(keys) <= MAX_KEYS:
        raise Refused(400, "MalformedXML", "The XML you provided was not well-formed.")
    for key in keys:
        call.bucket.delete(key)
    quiet = "".join(texts(root, "Quiet")).lower() == "true"
    deleted = [] if quiet else [element("Deleted", ("Key", call.named(key))) for key in keys]
    return _answer(element("DeleteResult", *call.encoding(), *deleted))


def _answer(inner: str) -> Response:
    body = b'<?xml version="1.0" encoding="UTF-8"?>\n' + inner.encode("utf-8", "surrogateescape")
    return Response(200, {"Content-Type": "application/xml"}, body)


def _limit(call: Call) -> int:
    said = call.request.query.get("max-keys", str(call.dialect.page))
    if not said.isdecimal() or (int(said) > MAX_KEYS and call.dialect.refuses_long_pages):
        details = {"ArgumentName": "max-keys", "ArgumentValue": said}
        message = "Argument max-keys must be an integer between 0 and 1000."
        raise Refused(400, "InvalidArgument", message, "0017-00000202", details)
    return min(int(said), MAX_KEYS)


def _list_v1(call: Call) -> Response:
    query = call.request.query
    prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
    marker, limit = query.get("marker", ""), _limit(call)
    page = call.bucket.page(prefix, delimiter, marker, limit)
    following = [] if page.following is None else [("NextMarker", call.named(page.following))]
    return _listing(call, page, ("Marker", call.named(marker)), *following, ("MaxKeys", limit))


def _list_v2(call: Call) -> Response:
    query = call.request.query
    prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
    token, start, limit = (
        query.get("continuation-token"),
        query.get("start-after", ""),
        _limit(call),
    )
    after = start if token is None else _untoken(token)
    page = call.bucket.page(prefix, delimiter, after, limit)
    following: list[tuple[str, object]] = []
    if page.following is not None:
        following = [("NextContinuationToken", page.following.encode().hex())]
    if token is not None:
        following.append(("ContinuationToken", token))
    return _listing(
        call,
        page,
        ("StartAfter", call.named(start)),
        *following,
        ("KeyCount", len(page.objects) + len(page.prefixes)),
        ("MaxKeys", limit),
    )


def _untoken(token: str) -> str:
    try:
        return bytes.fromhex(token).decode()
    except ValueError:
        message = "The continuation token provided is incorrect."
        raise Refused(400, "InvalidArgument", message) from None


def _listing(call: Call, page: Page, *fields: tuple[str, object]) -> Response:
    query = call.request.query
    body = document(
        "ListBucketResult",
        ("Name", call.bucket.name),
        ("Prefix", call.named(query.get("prefix", ""))),
        ("Delimiter", call.named(query.get("delimiter", ""))),
        *call.encoding(),
        *fields,
        ("IsTruncated", str(page.following is not None).lower()),
        *(
            element(
                "Contents",
                ("Key", call.named(key)),
                ("LastModified", iso_time(stored.modified)),
                ("ETag", call.etag(stored.etag)),
                ("Type", stored.kind),
                ("Size", len(stored.data)),
                ("StorageClass", "STANDARD" if call.dialect.own == "x-amz-" else "Standard"),
                element("Owner", ("ID", OWNER), ("DisplayName", OWNER)),
            )
            for key, stored in page.objects
        ),
        *(element("CommonPrefixes", ("Prefix", call.named(each))) for each in page.prefixes),
    )
    return Response(200, {"Content-Type": "application/xml"}, body)
