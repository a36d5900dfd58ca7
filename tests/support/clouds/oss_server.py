"""A server that behaves as Aliyun OSS documents.

    with oss_server() as server:
        server.make_bucket("data", region="cn-hangzhou")
        run_client(environment=server.environment())   # http://data.oss-cn-hangzhou.aliyuncs.com

Sources: help.aliyun.com/en/oss/developer-reference/ (overview-24 for hosts,
compatibility-with-amazon-s3 and use-aws-sdks-to-access-oss for the S3 dialect) and the pages
of the error codes, help.aliyun.com/en/oss/user-guide/<EC>. What they say:

- Only virtual hosts and custom domains; a path-style request is SecondLevelDomainForbidden.
- Endpoints are oss-<region>, oss-<region>-internal, oss-accelerate and the same after `s3.`.
  A bucket is served by its own region's; another region's says AccessDenied.
- The signature chooses the dialect, also at the native endpoints (the error pages show S3
  signatures at oss-example.oss-cn-hangzhou.aliyuncs.com). Native: V4, and V1 on buckets that
  may. S3: SigV4 for any region, as the documented examples sign for us-east-1 and aws-global.
- aws-chunked bodies are InvalidArgument (usememos/memos#4511, karakeep-app/karakeep#2191).
- An expired token is 403 SecurityTokenExpired (EC 0002-00000007, jxxghp/MoviePilot#6295).
  In the S3 dialect no page names the code; here it is S3's own, 400 ExpiredToken.

Not known, and chosen here: an OSS signature sent to an `s3.` host is refused as malformed.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, replace

from tests.support.clouds import oss_v1, oss_v4, sigv4
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
    r"(?:(?P<bucket>[a-z0-9][a-z0-9-]{1,61}[a-z0-9])\.)?(?P<s3>s3\.)?"
    r"oss-(?P<region>[a-z0-9-]+?)(?:-internal)?\.aliyuncs\.com(?::\d+)?"
)
ANYWHERE = {"accelerate", "accelerate-overseas"}
NATIVE = Dialect(
    own="x-oss-",
    vendor="x-oss-",
    page=100,
    refuses_long_pages=True,
    lax_ranges=True,
    conditional_put=False,
    upper_etags=True,
    part_minimum=100 * 1024,
)
S3 = replace(NATIVE, own="x-amz-", page=1000, refuses_long_pages=False)

MISMATCH = (
    "The request signature we calculated does not match the signature you provided. "
    "Check your key and signing method."
)
CREDENTIALS = {
    Fault.ANONYMOUS: Refused(
        403, "AccessDenied", "Anonymous access is forbidden for this operation.", "0003-00000001"
    ),
    Fault.MALFORMED: Refused(
        400, "InvalidArgument", "Authorization header is invalid.", "0002-00000202"
    ),
    Fault.KEY: Refused(
        403,
        "InvalidAccessKeyId",
        "The OSS Access Key Id you provided does not exist in our records.",
        "0002-00000902",
    ),
    Fault.TOKEN: Refused(
        403,
        "InvalidSecurityToken",
        "The security token you provided is invalid.",
        "0002-00000008",
    ),
    Fault.EXPIRED: Refused(
        403,
        "SecurityTokenExpired",
        "The security token you provided has expired.",
        "0002-00000007",
    ),
    Fault.OVERDUE: Refused(403, "AccessDenied", "Request has expired.", "0002-00000069"),
    Fault.SKEW: Refused(
        403,
        "RequestTimeTooSkewed",
        "The difference between the request time and the current time is too large.",
        "0002-00000504",
    ),
    Fault.REGION: Refused(
        400,
        "InvalidArgument",
        "Invalid signing region in Authorization header.",
        "0002-00000205",
    ),
    Fault.SIGNATURE: Refused(403, "SignatureDoesNotMatch", MISMATCH, "0002-00000201"),
    Fault.PAYLOAD: Refused(
        400, "InvalidArgument", "Invalid x-oss-content-sha256.", "0002-00000214"
    ),
}
S3_CREDENTIALS = {
    Fault.EXPIRED: Refused(400, "ExpiredToken", "The provided token has expired."),
    Fault.SKEW: CREDENTIALS[Fault.SKEW].with_ec("0002-00000501"),
    Fault.SIGNATURE: CREDENTIALS[Fault.SIGNATURE].with_ec("0002-00000429"),
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
    s3: bool


class OssServer(Cloud):
    """Aliyun OSS on loopback; see the module."""

    key_variables = ("OSS_ACCESS_KEY_ID", "OSS_ACCESS_KEY_SECRET")
    server_name = "AliyunOSS"
    id_header = "x-oss-request-id"
    default_region = "cn-hangzhou"

    def serve(self, request: Request) -> Response:
        """Answer one request."""
        place = self._place(request)
        if place.bucket is None and request.path != "/":
            message = "Please use virtual hosted style to access."
            raise Refused(403, "SecondLevelDomainForbidden", message, "0003-00000301")
        bucket = None if place.bucket is None else self._bucket(place, request)
        self._check_signature(request, place, bucket)
        if bucket is None:
            return self._list_buckets(request)
        if request.key.startswith(("/", "\\")):
            message = "The specified object is not valid."
            raise Refused(400, "InvalidObjectName", message, "0017-00000303")
        dialect = S3 if place.s3 or sigv4.carried_by(request) else NATIVE
        return perform(Call(request, dialect, bucket, self.buckets, self.clock))

    def refusal(self, request: Request, refused: Refused, request_id: str) -> Response:
        """The error document of OSS; of a HEAD it travels in x-oss-err."""
        fields = [*refused.details.items()]
        if refused.ec:
            advice = f"https://api.aliyun.com/troubleshoot?q={refused.ec}"
            fields += [("EC", refused.ec), ("RecommendDoc", advice)]
        body = document(
            "Error",
            ("Code", refused.code),
            ("Message", refused.message),
            ("RequestId", request_id),
            ("HostId", request.host),
            *fields,
        )
        headers = {"Content-Type": "application/xml"}
        if refused.ec:
            headers["x-oss-ec"] = refused.ec
        if request.method == "HEAD":
            headers["x-oss-err"] = base64.b64encode(body).decode()
            body = b""
        return Response(refused.status, headers, b"" if refused.status == 304 else body)

    def refused_credentials(self, request: Request, failure: AuthFailure) -> Refused:
        """The words of OSS for what is wrong with a request's credentials."""
        said = CREDENTIALS[failure.fault]
        if sigv4.carried_by(request):
            said = S3_CREDENTIALS.get(failure.fault, said)
        elif oss_v1.carried_by(request) and failure.fault is Fault.SIGNATURE:
            said = said.with_ec("0002-00000040")
        details = {
            ("OSSAccessKeyId" if name == "AccessKeyId" else name): value
            for name, value in failure.details.items()
        }
        return Refused(said.status, said.code, said.message, said.ec, details)

    def _place(self, request: Request) -> _Place:
        named = self.cname_of(request)
        if named is not None:
            return _Place(named, None, s3=False)
        match = HOST.fullmatch(request.host)
        if match is None:
            return _Place(None, None, s3=False)
        region = None if match["region"] in ANYWHERE else match["region"]
        return _Place(match["bucket"], region, s3=match["s3"] is not None)

    def _bucket(self, place: _Place, request: Request) -> Bucket:
        bucket = self.buckets.get(str(place.bucket))
        if bucket is None:
            if request.method == "PUT" and request.path == "/" and not request.query:
                raise Refused(501, "NotImplemented", "Buckets are made by make_bucket().")
            details = {"BucketName": str(place.bucket)}
            message = "The specified bucket does not exist."
            raise Refused(404, "NoSuchBucket", message, "0015-00000101", details)
        if place.region not in {None, bucket.region}:
            message = (
                "The bucket you are attempting to access must be addressed using the specified "
                "endpoint. Please send all future requests to this endpoint."
            )
            details = {"Bucket": bucket.name, "Endpoint": f"oss-{bucket.region}.aliyuncs.com"}
            raise Refused(403, "AccessDenied", message, "0003-00001403", details)
        return bucket

    def _check_signature(self, request: Request, place: _Place, bucket: Bucket | None) -> None:
        name, region = (None, None) if bucket is None else (bucket.name, bucket.region)
        if sigv4.carried_by(request):
            _check_not_chunked(request)
            sigv4.verify(request, self.keyring, self.clock)
        elif oss_v4.carried_by(request):
            if place.s3:
                raise AuthFailure(Fault.MALFORMED)
            oss_v4.verify(request, name, region, self.keyring, self.clock)
        elif oss_v1.carried_by(request):
            allowed = bucket.v1_allowed if bucket else self._any_takes_v1()
            if not allowed:
                message = "The V1 signature is no longer supported. Use the V4 signature."
                raise Refused(403, "AccessDenied", message, "0002-00000080")
            oss_v1.verify(request, name, self.keyring, self.clock)
        elif "authorization" in request.headers:
            raise AuthFailure(Fault.MALFORMED)
        else:
            raise AuthFailure(Fault.ANONYMOUS)

    def _any_takes_v1(self) -> bool:
        return any(bucket.v1_allowed for bucket in self.buckets.values())

    def _list_buckets(self, request: Request) -> Response:
        if request.method != "GET":
            raise Refused(501, "NotImplemented", "This test server only lists buckets.")
        found = [
            element(
                "Bucket",
                ("Name", bucket.name),
                ("Location", f"oss-{bucket.region}"),
                ("Region", bucket.region),
                ("StorageClass", "Standard"),
                ("CreationDate", iso_time(0)),
                ("ExtranetEndpoint", f"oss-{bucket.region}.aliyuncs.com"),
                ("IntranetEndpoint", f"oss-{bucket.region}-internal.aliyuncs.com"),
            )
            for _, bucket in sorted(self.buckets.items())
        ]
        owner = element("Owner", ("ID", OWNER), ("DisplayName", OWNER))
        body = document("ListAllMyBucketsResult", owner, element("Buckets", *found))
        return Response(200, {"Content-Type": "application/xml"}, body)


def _check_not_chunked(request: Request) -> None:
    payload = request.headers.get("x-amz-content-sha256", "")
    encoding = request.headers.get("content-encoding", "")
    if payload.startswith("STREAMING-") or "aws-chunked" in encoding:
        message = (
            "aws-chunked encoding is not supported with the specified x-amz-content-sha256 value."
        )
        details = {"ArgumentName": "Content-Encoding", "ArgumentValue": "aws-chunked"}
        raise Refused(400, "InvalidArgument", message, "0017-00000804", details)


def oss_server(
    *, port: int = 0, key_id: str = "", secret: str = "", tls: bool = False
) -> OssServer:
    """An OSS in this process, in threads of its own, as a context manager."""
    return OssServer(port=port, key_id=key_id, secret=secret, tls=tls)


if __name__ == "__main__":
    run(OssServer, __doc__)
