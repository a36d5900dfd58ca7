"""What differs between the clouds and their dialects, and what every operation is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import formatdate
from urllib.parse import quote

from tests.support.clouds.http_server import Request
from tests.support.clouds.keyring import Clock
from tests.support.clouds.objects import Bucket, Stored
from tests.support.clouds.refusals import Refused

MAX_KEYS = 1000


@dataclass(frozen=True)
class Dialect:
    """How one cloud speaks to one kind of client."""

    own: str  # the prefix of its headers: x-oss-, x-cos- or, for S3 clients, x-amz-
    vendor: str  # the prefix of the cloud itself, also honoured from S3 clients
    page: int  # keys of a listing when the client names no number
    refuses_long_pages: bool  # more than MAX_KEYS is an error, not cut
    lax_ranges: bool  # a range that leaves the object is ignored unless the client asks
    conditional_put: bool  # False: If-Match and If-None-Match on PUT are NotImplemented
    upper_etags: bool
    part_minimum: int  # bytes of every part but the last
    racing_seconds: float = 0.0  # between the check of a create-only write and the write


@dataclass(frozen=True)
class Call:
    """One request, its signature already checked."""

    request: Request
    dialect: Dialect
    bucket: Bucket
    buckets: Mapping[str, Bucket]
    clock: Clock

    def own(self, name: str) -> str | None:
        """A header of the dialect: own("copy-source") is x-oss-copy-source on OSS."""
        return self.request.headers.get(self.dialect.own + name)

    def vendor(self, name: str) -> str | None:
        """A header of the cloud itself, whatever the dialect."""
        return self.request.headers.get(self.dialect.vendor + name)

    def forbids_overwrite(self) -> bool:
        """Whether the write is create-only. With versioning on, neither cloud heeds it."""
        said = (self.vendor("forbid-overwrite") or "").lower() == "true"
        return said and not self.bucket.versioning

    def etag(self, etag: str) -> str:
        """An ETag as this cloud writes it, in quotes."""
        return f'"{etag.upper() if self.dialect.upper_etags else etag}"'

    def encoding(self) -> list[tuple[str, str]]:
        """The element that says that keys are encoded, when the client asked for that."""
        asked = self.request.query.get("encoding-type", "").lower() == "url"
        return [("EncodingType", "url")] if asked else []

    def named(self, key: str) -> str:
        """A key in an XML answer, encoded when the client asked for that."""
        return quote(key, safe="", errors="surrogateescape") if self.encoding() else key

    def stored(self, key: str | None = None) -> Stored:
        """The object that the request names, in the version it names."""
        name = self.request.key if key is None else key
        found = self.bucket.get(name, self.request.query.get("versionId"))
        if found is None:
            raise Refused(
                404,
                "NoSuchKey",
                "The specified key does not exist.",
                "0026-00000001",
                {"Key": name},
            )
        return found

    def written(self, stored: Stored) -> dict[str, str]:
        """The headers of an answer to a write."""
        headers = {
            "ETag": self.etag(stored.etag),
            f"{self.dialect.vendor}hash-crc64ecma": str(stored.crc64),
        }
        if self.bucket.versioning:
            headers[f"{self.dialect.own}version-id"] = stored.version
        return headers


def taken(ec: str) -> Refused:
    """A create-only write found the key taken."""
    message = "The object you specified already exists and can not be overwritten."
    return Refused(409, "FileAlreadyExists", message, ec)


def http_date(moment: float) -> str:
    """A moment as HTTP headers write it."""
    return formatdate(moment, usegmt=True)
