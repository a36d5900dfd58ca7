"""The OSS server against Aliyun's SDK of yesterday and what is built on it.

oss2 signs V1 unless told otherwise; ossfs and aiooss2 can do nothing else, so they reach only
buckets that are old enough.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import aiooss2
import oss2
import ossfs
import pytest

from tests.contract.clouds.conftest import OSS_BUCKET, opened
from tests.support.clouds import digests
from tests.support.clouds.names import vendors_on_loopback
from tests.support.clouds.oss_server import OssServer

ENDPOINT = "http://oss-cn-hangzhou.aliyuncs.com"
OLD = "old"


@pytest.fixture(autouse=True)
def old_bucket(oss: OssServer) -> None:
    """A bucket that takes V1, beside the one that does not."""
    oss.make_bucket(OLD, v1_allowed=True)


def v1(oss: OssServer, bucket: str = OLD, secret: str | None = None) -> oss2.Bucket:
    """A client that signs V1."""
    return oss2.Bucket(oss2.Auth(oss.key_id, secret or oss.secret), ENDPOINT, bucket)


def v4(oss: OssServer, secret: str | None = None) -> oss2.Bucket:
    """A client that signs V4."""
    auth = oss2.AuthV4(oss.key_id, secret or oss.secret)
    return oss2.Bucket(auth, ENDPOINT, OSS_BUCKET, region="cn-hangzhou")


def refusal(action: Callable[[], object]) -> tuple[int, str, str]:
    """Status, code and fine code of the service's error that an action ends with."""
    with pytest.raises(oss2.exceptions.ServerError) as caught:
        action()
    return caught.value.status, caught.value.code, caught.value.ec


def test_v1_is_refused_on_new_buckets(oss: OssServer) -> None:
    new = v1(oss, OSS_BUCKET)
    assert refusal(lambda: new.put_object("k", b"x")) == (403, "AccessDenied", "0002-00000080")
    assert "k" not in oss.buckets[OSS_BUCKET]


@pytest.mark.parametrize("made", [v1, v4], ids=["v1", "v4"])
def test_T23_every_key_comes_back(
    oss: OssServer, key: str, made: Callable[[OssServer], oss2.Bucket]
) -> None:
    bucket = made(oss)
    bucket.put_object(key, b"abc", headers={"Content-Type": "text/plain"})
    assert bucket.get_object(key).read() == b"abc"
    assert bucket.head_object(key).content_length == 3
    assert [each.key for each in oss2.ObjectIterator(bucket)] == [key]
    assert [each.key for each in oss2.ObjectIteratorV2(bucket)] == [key]


@pytest.mark.parametrize("made", [v1, v4], ids=["v1", "v4"])
def test_another_secret_is_refused(oss: OssServer, made: Callable[..., oss2.Bucket]) -> None:
    refused = refusal(lambda: made(oss, secret="not the one").put_object("k", b"x"))
    assert refused[:2] == (403, "SignatureDoesNotMatch")


@pytest.mark.parametrize("made", [v1, v4], ids=["v1", "v4"])
def test_an_upload_in_parts_is_checked_end_to_end(
    oss: OssServer, tmp_path: Path, made: Callable[[OssServer], oss2.Bucket]
) -> None:
    body = bytes(range(256)) * 2000
    (tmp_path / "source").write_bytes(body)
    bucket = made(oss)
    store = oss2.ResumableStore(root=str(tmp_path))
    oss2.resumable_upload(
        bucket, "k", str(tmp_path / "source"), store, multipart_threshold=1, part_size=102400
    )
    assert bucket.head_object("k").headers["x-oss-hash-crc64ecma"] == str(digests.crc64(body))
    bucket.get_object_to_file("k", str(tmp_path / "copy"))  # compares the CRC64
    assert (tmp_path / "copy").read_bytes() == body


@pytest.mark.parametrize("made", [v1, v4], ids=["v1", "v4"])
def test_the_rest_of_the_api(oss: OssServer, made: Callable[[OssServer], oss2.Bucket]) -> None:
    bucket = made(oss)
    bucket.put_object("k", b"one", headers={"x-oss-forbid-overwrite": "true"})
    twice = refusal(
        lambda: bucket.put_object("k", b"two", headers={"x-oss-forbid-overwrite": "true"})
    )
    assert twice == (409, "FileAlreadyExists", "0026-00000002")
    bucket.copy_object(bucket.bucket_name, "k", "目录/copy")
    assert bucket.object_exists("目录/copy") and not bucket.object_exists("none")
    assert bucket.get_object("k", byte_range=(1, 1)).read() == b"n"
    assert bucket.get_bucket_info().location == "oss-cn-hangzhou"
    assert bucket.batch_delete_objects(["k", "目录/copy"]).deleted_keys == ["k", "目录/copy"]


def test_a_signed_url_of_either_kind(oss: OssServer) -> None:
    for bucket in (v1(oss), v4(oss)):
        bucket.put_object("a b", b"abc")
        assert opened(bucket.sign_url("GET", "a b", 60)) == b"abc"


def test_a_token_is_good_until_it_ends(oss: OssServer) -> None:
    bucket = oss2.Bucket(oss2.StsAuth(*oss.issue_token(600)), ENDPOINT, OLD)
    bucket.put_object("k", b"x")
    oss.skew_seconds = 601
    expired = refusal(lambda: bucket.put_object("k", b"x"))
    assert expired == (403, "SecurityTokenExpired", "0002-00000007")


def filesystem(oss: OssServer) -> ossfs.OSSFileSystem:
    """ossfs as fsspec makes it for oss:// URLs: over requests, which knows the proxy."""
    return ossfs.OSSFileSystem(
        endpoint=ENDPOINT, key=oss.key_id, secret=oss.secret, skip_instance_cache=True
    )


def test_ossfs_reads_and_writes_old_buckets(oss: OssServer) -> None:
    files = filesystem(oss)
    for number in range(101):
        oss.buckets[OLD].put(f"many/{number:03}", b"", {}, 0, forbid=False)
    files.pipe(f"{OLD}/目录/a b+c", b"0123456789")
    assert files.cat(f"{OLD}/目录/a b+c") == b"0123456789"
    assert files.find(f"{OLD}/目录") == [f"{OLD}/目录/a b+c"]
    assert len(files.find(f"{OLD}/many")) == 101
    assert files.info(f"{OLD}/目录/a b+c")["size"] == 10
    files.rm(f"{OLD}/目录/a b+c")
    assert not files.exists(f"{OLD}/目录/a b+c")


def test_ossfs_reads_one_byte_more_than_it_was_asked_for(oss: OssServer) -> None:
    """Its `end` is the last byte, not the one behind it; at the end of the object that makes
    a range that leaves it, and OSS sends the whole."""
    files = filesystem(oss)
    files.pipe(f"{OLD}/k", b"0123456789")
    assert files.cat_file(f"{OLD}/k", start=2, end=5) == b"2345"
    assert files.cat_file(f"{OLD}/k", start=8, end=10) == b"0123456789"
    assert files.cat_file(f"{OLD}/k", start=8, end=9) == b"89"


def test_ossfs_is_refused_by_new_buckets(oss: OssServer) -> None:
    with pytest.raises(PermissionError):
        filesystem(oss).pipe(f"{OSS_BUCKET}/k", b"x")


def test_aiooss2_which_knows_no_proxy(oss: OssServer) -> None:
    """Reading alone: its payload class cannot be made with the aiohttp of today."""
    oss.buckets[OLD].put("目录/k", b"abc", {}, 0, forbid=False)

    async def read() -> bytes:
        auth = oss2.Auth(oss.key_id, oss.secret)
        async with aiooss2.AioBucket(auth, f"{ENDPOINT}:{oss.port}", OLD) as bucket:
            answer = await bucket.get_object("目录/k")
            return bytes(await answer.read())

    with vendors_on_loopback():
        assert asyncio.run(read()) == b"abc"
    assert oss.requests[-1].host == f"{OLD}.oss-cn-hangzhou.aliyuncs.com:{oss.port}"
