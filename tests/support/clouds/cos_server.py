"""A server that behaves as Tencent COS documents.

    with cos_server() as server:
        server.make_bucket("data-1250000000", region="ap-guangzhou")
        run_client(environment=server.environment())

Sources: cloud.tencent.com/document/product/436/: 7730 (error codes), 7751 (hosts and common
headers), 37421 (S3 SDKs), faq 102489 (path style). What they, and users, say:

- Hosts are <bucket-appid>.cos.<region>.myqcloud.com, also under tencentcos.cn, cos-internal
  and cos.accelerate; a path-style request is PathStyleDomainForbidden.
- aws-chunked bodies are NotImplemented (multica PR#6261).
- Multi-object deletion without Content-MD5 is InvalidRequest in the S3 dialect
  (Moonlark-Dev/Moonlark#1416, measured against the service; SigV4 worked there too).
- An expired token is 400 ExpiredToken, the same word as S3's.
- x-cos-forbid-overwrite works on put, copy, initiate and complete, and not with versioning
  (opendal PR#5514); concurrent creators of a fresh key were both let through (opendal
  PR#7526). `racing=True` plays that: the check is made when the request arrives, the write
  lands a moment later.

Not known, and chosen here: If-None-Match on PUT is ignored, so that a client which trusts
it without a probe is found out.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, replace
from typing import Any

from tests.support.clouds import cos_sign, sigv4
from tests.support.clouds.bucket_operations import OWNER
from tests.support.clouds.cloud import Cloud, run
from tests.support.clouds.dialects import Call, Dialect
from tests.support.clouds.http_server import Request, Response
from tests.support.clouds.keyring import iso_time
from tests.support.clouds.objects import Bucket
from tests.support.clouds.operations import perform
from tests.support.clouds.refusals import AuthFailure, Fault, Refused
from tests.support.clouds.xml_answers import document, element

HOST = re.compile(
    r"(?:(?P<bucket>[a-z0-9][a-z0-9-]*-\d+)\.)?(?:cos|cos-internal|service\.cos)"
    r"(?:\.(?P<region>[a-z0-9-]+))?\.(?:myqcloud\.com|tencentcos\.cn)(?::\d+)?"
)
RACING_SECONDS = 0.1  # both of two racers arrive before either writes
NATIVE = Dialect(
    own="x-cos-",
    vendor="x-cos-",
    page=1000,
    refuses_long_pages=False,
    lax_ranges=False,
    conditional_put=True,
    upper_etags=False,
    part_minimum=1024 * 1024,
)
CREDENTIALS = {
    Fault.ANONYMOUS: Refused(403, "AccessDenied", "Access Denied."),
    Fault.MALFORMED: Refused(403, "AccessDenied", "The signature is malformed."),
    Fault.KEY: Refused(
        403,
        "InvalidAccessKeyId",
        "The Access Key Id you provided does not exist in our records.",
    ),
    Fault.TOKEN: Refused(403, "AccessDenied", "The token of the temporary key is wrong."),
    Fault.EXPIRED: Refused(400, "ExpiredToken", "The provided token has expired."),
    Fault.OVERDUE: Refused(403, "AccessDenied", "Request has expired."),
    Fault.SKEW: Refused(
        403,
        "RequestTimeTooSkewed",
        "The difference between the request time and the current time is too large.",
    ),
    Fault.REGION: Refused(403, "AccessDenied", "The signature is for another service."),
    Fault.SIGNATURE: Refused(
        403, "SignatureDoesNotMatch", "The Signature you specified is invalid."
    ),
    Fault.PAYLOAD: Refused(
        400,
        "XAmzContentSHA256Mismatch",
        "The provided 'x-amz-content-sha256' header does not match what was computed.",
    ),
}


@dataclass(frozen=True)
class _Place:
    """Where a request was sent."""

    bucket: str | None
    region: str | None  # None: any region's


class CosServer(Cloud):
    """Tencent COS on loopback; see the module."""

    key_variables = ("COS_SECRET_ID", "COS_SECRET_KEY")
    server_name = "tencent-cos"
    id_header = "x-cos-request-id"
    default_region = "ap-guangzhou"

    def __init__(self, *, racing: bool = False, **settings: Any) -> None:
        self._native = replace(NATIVE, racing_seconds=RACING_SECONDS if racing else 0.0)
        super().__init__(**settings)

    def serve(self, request: Request) -> Response:
        """Answer one request."""
        place = self._place(request)
        if place.bucket is None and request.path != "/":
            message = (
                "The bucket you are attempting to access must be addressed using COS "
                "virtual-styled domain."
            )
            raise Refused(403, "PathStyleDomainForbidden", message)
        s3 = sigv4.carried_by(request)
        self._check_signature(request)
        if place.bucket is None:
            return self._list_buckets(request)
        bucket = self._bucket(place)
        if "delete" in request.query and "content-md5" not in request.headers:
            message = "Missing required header for this request: Content-MD5"
            raise Refused(400, "InvalidRequest", message)
        dialect = replace(self._native, own="x-amz-") if s3 else self._native
        return perform(Call(request, dialect, bucket, self.buckets, self.clock))

    def refusal(self, request: Request, refused: Refused, request_id: str) -> Response:
        """The error document of COS; a HEAD has none."""
        trace = base64.b64encode(request_id.encode()).decode()
        body = document(
            "Error",
            ("Code", refused.code),
            ("Message", refused.message),
            ("Resource", f"{request.host}/{request.key}"),
            ("RequestId", request_id),
            ("TraceId", trace),
        )
        headers = {"Content-Type": "application/xml"}
        bare = request.method == "HEAD" or refused.status == 304
        return Response(refused.status, headers, b"" if bare else body)

    def refused_credentials(self, request: Request, failure: AuthFailure) -> Refused:
        """The words of COS for what is wrong with a request's credentials."""
        said = CREDENTIALS[failure.fault]
        return Refused(said.status, said.code, said.message)

    def _place(self, request: Request) -> _Place:
        named = self.cname_of(request)
        if named is not None:
            return _Place(named, None)
        match = HOST.fullmatch(request.host)
        if match is None:
            return _Place(None, None)
        return _Place(match["bucket"], None if match["region"] == "accelerate" else match["region"])

    def _bucket(self, place: _Place) -> Bucket:
        bucket = self.buckets.get(str(place.bucket))
        if bucket is None or place.region not in {None, bucket.region}:
            raise Refused(404, "NoSuchBucket", "The specified bucket does not exist.")
        return bucket

    def _check_signature(self, request: Request) -> None:
        if sigv4.carried_by(request):
            payload = request.headers.get("x-amz-content-sha256", "")
            if payload.startswith("STREAMING-"):
                message = f"Aws MultiChunkedEncoding {payload} is not supported."
                raise Refused(501, "NotImplemented", message)
            sigv4.verify(request, self.keyring, self.clock)
        elif cos_sign.carried_by(request):
            cos_sign.verify(request, self.keyring, self.clock)
        elif "authorization" in request.headers:
            raise AuthFailure(Fault.MALFORMED)
        else:
            raise AuthFailure(Fault.ANONYMOUS)

    def _list_buckets(self, request: Request) -> Response:
        if request.method != "GET":
            raise Refused(501, "NotImplemented", "This test server only lists buckets.")
        found = [
            element(
                "Bucket",
                ("Name", bucket.name),
                ("Location", bucket.region),
                ("CreationDate", iso_time(0)),
            )
            for _, bucket in sorted(self.buckets.items())
        ]
        owner = element("Owner", ("ID", OWNER), ("DisplayName", OWNER))
        body = document("ListAllMyBucketsResult", owner, element("Buckets", *found))
        return Response(200, {"Content-Type": "application/xml"}, body)


def cos_server(
    *,
    port: int = 0,
    key_id: str = "",
    secret: str = "",
    racing: bool = False,
    tls: bool = False,
) -> CosServer:
    """A COS in this process, in threads of its own, as a context manager."""
    return CosServer(port=port, key_id=key_id, secret=secret, racing=racing, tls=tls)


if __name__ == "__main__":
    run(CosServer, __doc__)
