"""Which operation a request is: by its method, whether it names a key, and its sub-resource."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.clouds import bucket_operations as bucket
from tests.support.clouds import object_operations as objects
from tests.support.clouds import upload_operations as uploads
from tests.support.clouds.dialects import Call
from tests.support.clouds.http_server import Response
from tests.support.clouds.refusals import Refused

Operation = Callable[[Call], Response]

SUBRESOURCES = (
    *("uploads", "uploadId", "delete", "location", "versioning", "bucketInfo", "acl"),
    *("objectMeta", "append", "symlink", "tagging", "restore", "versions", "cors", "lifecycle"),
)
ON_BUCKETS: dict[tuple[str, str | None], Operation] = {
    ("GET", None): bucket.list_objects,
    ("HEAD", None): bucket.head_bucket,
    ("POST", "delete"): bucket.delete_many,
    ("GET", "location"): bucket.location,
    ("GET", "versioning"): bucket.versioning,
    ("GET", "bucketInfo"): bucket.information,
    ("GET", "acl"): bucket.access,
    ("GET", "uploads"): uploads.list_uploads,
}
ON_OBJECTS: dict[tuple[str, str | None], Operation] = {
    ("GET", None): objects.get,
    ("HEAD", None): objects.head,
    ("PUT", None): objects.put,
    ("DELETE", None): objects.delete,
    ("HEAD", "objectMeta"): objects.head,
    ("GET", "acl"): bucket.access,
    ("POST", "uploads"): uploads.start,
    ("PUT", "uploadId"): uploads.part,
    ("POST", "uploadId"): uploads.complete,
    ("DELETE", "uploadId"): uploads.abort,
    ("GET", "uploadId"): uploads.list_parts,
}


def perform(call: Call) -> Response:
    """The answer to a request; Refused when these servers do not know the operation."""
    query = call.request.query
    part = next((name for name in SUBRESOURCES if name in query), None)
    known = ON_OBJECTS if call.request.key else ON_BUCKETS
    operation = known.get((call.request.method, part))
    if operation is None:
        what = f"{call.request.method} ?{part}" if part else call.request.method
        raise Refused(501, "NotImplemented", f"This test server does not know {what}.")
    return operation(call)
