"""What lies under a prefix: looked at, copied, and put back to what it was before a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import boto3  # type: ignore[import-untyped]

from benchmarks.peers.peer import Place

DELETED_AT_ONCE = 1000


class Holding(NamedTuple):
    """One object; with other content it has another ETag."""

    size: int
    etag: str


def holdings(place: Place) -> dict[str, Holding]:
    """Every object under the prefix by its key below it."""
    start = f"{place.prefix}/"
    pages = _client(place).get_paginator("list_objects_v2")
    return {
        each["Key"].removeprefix(start): Holding(each["Size"], each["ETag"])
        for page in pages.paginate(Bucket=place.bucket, Prefix=start)
        for each in page.get("Contents", ())
    }


def refill(place: Place, template: Place) -> dict[str, Holding]:
    """Make `place` hold what `template` holds and nothing else; what it holds now.

    The server copies, so nothing of it passes a wire. Both lie in the same bucket.
    """
    client = _client(place)
    keys = [{"Key": f"{place.prefix}/{name}"} for name in holdings(place)]
    for start in range(0, len(keys), DELETED_AT_ONCE):
        batch = {"Objects": keys[start : start + DELETED_AT_ONCE]}
        client.delete_objects(Bucket=place.bucket, Delete=batch)
    for name in holdings(template):
        source = {"Bucket": template.bucket, "Key": f"{template.prefix}/{name}"}
        client.copy_object(Bucket=place.bucket, Key=f"{place.prefix}/{name}", CopySource=source)
    return holdings(place)


def newly_stored(before: Mapping[str, Holding], after: Mapping[str, Holding]) -> int:
    """Bytes of the objects that were not there before, or had other content."""
    return sum(held.size for key, held in after.items() if before.get(key) != held)


def _client(place: Place) -> Any:
    server = place.server
    return boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        region_name=server.region,
        aws_access_key_id=server.access_key,
        aws_secret_access_key=server.secret_key,
    )
