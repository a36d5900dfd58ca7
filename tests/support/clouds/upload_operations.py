"""Operations on uploads in parts: start, part, copied part, complete, abort, lists."""

from __future__ import annotations

import re

from tests.support.clouds import digests
from tests.support.clouds.dialects import MAX_KEYS, Call, taken
from tests.support.clouds.http_server import Response
from tests.support.clouds.keyring import iso_time
from tests.support.clouds.object_operations import check_md5, kept, source_of
from tests.support.clouds.objects import BadPart, Part, Taken, Upload
from tests.support.clouds.refusals import Refused
from tests.support.clouds.xml_answers import document, element, parsed, texts

MAX_PARTS = 10_000


def start(call: Call) -> Response:
    """Begin an upload; create-only is checked here too, as well as at its completion."""
    forbid = call.forbids_overwrite()
    try:
        upload = call.bucket.start(call.request.key, kept(call), call.clock.now(), forbid=forbid)
    except Taken:
        raise taken("0026-00000201") from None
    return _answer(
        "InitiateMultipartUploadResult",
        *call.encoding(),
        ("Bucket", call.bucket.name),
        ("Key", call.named(upload.key)),
        ("UploadId", upload.id),
    )


def part(call: Call) -> Response:
    """Keep one part, sent or copied from another object."""
    upload = _upload(call)
    number = int(call.request.query.get("partNumber", 0))
    if not 1 <= number <= MAX_PARTS:
        message = "Part number must be an integer between 1 and 10000, inclusive."
        raise Refused(400, "InvalidArgument", message, "0042-00000101")
    copied = call.own("copy-source") is not None
    data = _copied(call) if copied else call.request.body
    if not copied:
        check_md5(call)
    kept_part = Part(data, digests.md5(data), call.clock.now())
    upload.parts[number] = kept_part
    etag = call.etag(kept_part.etag)
    if copied:
        modified = iso_time(kept_part.modified)
        return _answer("CopyPartResult", ("ETag", etag), ("LastModified", modified))
    crc = str(digests.crc64(data))
    return Response(200, {"ETag": etag, f"{call.dialect.vendor}hash-crc64ecma": crc})


def complete(call: Call) -> Response:
    """Make the object out of the parts that the request names."""
    upload = _upload(call)
    root = parsed(call.request.body)
    numbers = [int(number) for number in texts(root, "Part", "PartNumber")]
    chosen = list(zip(numbers, texts(root, "Part", "ETag"), strict=True))
    for number in numbers[:-1]:
        if number in upload.parts and len(upload.parts[number].data) < call.dialect.part_minimum:
            message = "Your proposed upload smaller than the minimum allowed size."
            raise Refused(400, "EntityTooSmall", message, "0042-00000011")
    forbid = call.forbids_overwrite()
    try:
        stored = call.bucket.complete(upload, chosen, call.clock.now(), forbid=forbid)
    except Taken:
        raise taken("0042-00000214") from None
    except BadPart as bad:
        message = f"Part {bad.number} is missing, another one, or out of order."
        raise Refused(400, bad.code, message, "0042-00000209") from None
    body = document(
        "CompleteMultipartUploadResult",
        ("Location", f"http://{call.request.host}{call.request.path}"),
        *call.encoding(),
        ("Bucket", call.bucket.name),
        ("Key", call.named(upload.key)),
        ("ETag", call.etag(stored.etag)),
    )
    return Response(200, {"Content-Type": "application/xml", **call.written(stored)}, body)


def abort(call: Call) -> Response:
    """Forget an upload and its parts."""
    call.bucket.uploads.pop(_upload(call).id, None)
    return Response(204)


def list_parts(call: Call) -> Response:
    """The parts that have arrived."""
    upload = _upload(call)
    after = int(call.request.query.get("part-number-marker", 0))
    limit = int(call.request.query.get("max-parts", MAX_KEYS))
    found = sorted((n, each) for n, each in upload.parts.items() if n > after)[: limit + 1]
    more, found = len(found) > limit, found[:limit]
    return _answer(
        "ListPartsResult",
        *call.encoding(),
        ("Bucket", call.bucket.name),
        ("Key", call.named(upload.key)),
        ("UploadId", upload.id),
        ("PartNumberMarker", after),
        ("NextPartNumberMarker", found[-1][0] if found else 0),
        ("MaxParts", limit),
        ("IsTruncated", str(more).lower()),
        *(
            element(
                "Part",
                ("PartNumber", number),
                ("LastModified", iso_time(each.modified)),
                ("ETag", call.etag(each.etag)),
                ("Size", len(each.data)),
            )
            for number, each in found
        ),
    )


def list_uploads(call: Call) -> Response:
    """The uploads that are under way below a prefix, all on one page."""
    prefix = call.request.query.get("prefix", "")
    found = sorted((each.key, each.id, each) for each in list(call.bucket.uploads.values()))
    return _answer(
        "ListMultipartUploadsResult",
        *call.encoding(),
        ("Bucket", call.bucket.name),
        ("Prefix", call.named(prefix)),
        ("MaxUploads", MAX_KEYS),
        ("IsTruncated", "false"),
        *(
            element(
                "Upload",
                ("Key", call.named(key)),
                ("UploadId", upload_id),
                ("Initiated", iso_time(each.started)),
            )
            for key, upload_id, each in found
            if key.startswith(prefix)
        ),
    )


def _answer(name: str, *content: str | tuple[str, object]) -> Response:
    return Response(200, {"Content-Type": "application/xml"}, document(name, *content))


def _upload(call: Call) -> Upload:
    upload = call.bucket.uploads.get(call.request.query["uploadId"])
    if upload is None or upload.key != call.request.key:
        message = (
            "The specified upload does not exist. The upload ID may be invalid, "
            "or the upload may have been aborted or completed."
        )
        details = {"UploadId": call.request.query["uploadId"]}
        raise Refused(404, "NoSuchUpload", message, "0042-00000002", details)
    return upload


def _copied(call: Call) -> bytes:
    data = source_of(call).data
    said = call.own("copy-source-range")
    if said is None:
        return data
    match = re.fullmatch(r"bytes=(\d+)-(\d+)", said)
    if match is None or int(match[2]) >= len(data):
        raise Refused(400, "InvalidArgument", "The range is not one of the source.")
    return data[int(match[1]) : int(match[2]) + 1]
