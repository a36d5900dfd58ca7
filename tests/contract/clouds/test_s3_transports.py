"""Both clouds by the transports that stager uses: obstore and s3fs."""

from __future__ import annotations

from typing import Any

import obstore
import obstore.exceptions
import pytest
import s3fs
from obstore.store import S3Store

from tests.contract.clouds.conftest import Place
from tests.support.clouds import digests

PART = 5 * 1024 * 1024  # S3 clients send no smaller ones


def native(place: Place, endpoint: str | None = None, **settings: Any) -> S3Store:
    """obstore as stager makes it: the endpoint is the bucket's host."""
    given = {
        "endpoint": endpoint or place.host,
        "region": place.region,
        "virtual_hosted_style_request": True,
        "access_key_id": place.cloud.key_id,
        "secret_access_key": place.cloud.secret,
        "client_options": {"allow_http": True},
        "retry_config": {"max_retries": 0},
    }
    return S3Store(place.bucket, **{**given, **settings})


def test_obstore_puts_gets_lists_and_deletes(place: Place) -> None:
    store = native(place)
    body = bytes(range(256)) * 64
    obstore.put(store, "目录/a b+c%", body)
    assert bytes(obstore.get(store, "目录/a b+c%").bytes()) == body
    assert bytes(obstore.get_range(store, "目录/a b+c%", start=10, length=5)) == body[10:15]
    assert obstore.head(store, "目录/a b+c%")["size"] == len(body)
    assert [each["path"] for page in obstore.list(store) for each in page] == ["目录/a b+c%"]
    obstore.delete(store, "目录/a b+c%")
    with pytest.raises(FileNotFoundError):
        obstore.head(store, "目录/a b+c%")


def test_obstore_uploads_in_parts(place: Place) -> None:
    store = native(place)
    body = bytes(range(256)) * (PART // 128)
    obstore.put(store, "k", body, use_multipart=True, chunk_size=PART)
    stored = place.cloud.buckets[place.bucket].get("k")
    assert stored is not None
    assert (stored.data, stored.kind, stored.crc64) == (body, "Multipart", digests.crc64(body))


def test_T70_obstore_creates_only_by_a_header_of_its_client(place: Place) -> None:
    options = {"allow_http": True, "default_headers": {place.forbid: "true"}}
    store = native(place, client_options=options)
    obstore.put(store, "k", b"one", use_multipart=False)
    with pytest.raises(obstore.exceptions.AlreadyExistsError):
        obstore.put(store, "k", b"two", use_multipart=False)
    assert bytes(obstore.get(store, "k").bytes()) == b"one"


def test_obstore_at_a_custom_domain(place: Place) -> None:
    store = native(place, endpoint=place.cloud.cname(place.bucket))
    obstore.put(store, "k", b"x")
    assert place.cloud.requests[-1].host.startswith("127.0.0.1:")
    assert bytes(obstore.get(store, "k").bytes()) == b"x"


def test_obstore_with_another_secret_is_refused(place: Place) -> None:
    with pytest.raises(obstore.exceptions.PermissionDeniedError):
        obstore.put(native(place, secret_access_key="not the one"), "k", b"x")


def test_T68_obstore_deletes_many_at_once(place: Place) -> None:
    """object_store sends Content-MD5 with DeleteObjects, so both clouds take it."""
    store = native(place)
    for key in ("a", "b c"):
        obstore.put(store, key, b"x")
    obstore.delete(store, ["a", "b c"])
    seen = place.cloud.requests[-1]
    assert (seen.method, "delete" in seen.query, "content-md5" in seen.headers) == (
        "POST",
        True,
        True,
    )
    assert [each["path"] for page in obstore.list(store) for each in page] == []


def test_T68_s3fs_reads_and_writes_but_deletes_one_by_one(place: Place) -> None:
    files = s3fs.S3FileSystem(
        endpoint_url=place.endpoint,
        key=place.cloud.key_id,
        secret=place.cloud.secret,
        client_kwargs={"region_name": place.region},
        config_kwargs={
            "s3": {"addressing_style": "virtual"},
            "request_checksum_calculation": "when_required",
            "response_checksum_validation": "when_required",
            "retries": {"total_max_attempts": 1},
        },
        skip_instance_cache=True,
        use_listings_cache=False,
    )
    path = f"{place.bucket}/目录/a b+c"
    files.pipe(path, b"0123456789")
    assert files.cat_file(path, start=2, end=5) == b"234"
    assert files.find(place.bucket) == [path]
    with pytest.raises(OSError, match=r"Required Arguments|Content-MD5"):
        files.rm(path)  # DeleteObjects, without Content-MD5
    files.rm_file(path)
    assert files.find(place.bucket) == []
