"""The COS server against Tencent's SDK, and cosfs which is built on it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest
from qcloud_cos import CosConfig, CosS3Client, CosServiceError

from tests.contract.clouds.conftest import COS_BUCKET, opened
from tests.support.clouds import digests
from tests.support.clouds.cos_server import CosServer, cos_server

MEGABYTE = 1024 * 1024
FORBID = {"x-cos-forbid-overwrite": "true"}  # the SDK has no parameter for it


def client(cos: CosServer, *keys: str, **settings: Any) -> CosS3Client:
    """A client of the server; keys are id, secret and token."""
    key_id, secret, *token = keys or (cos.key_id, cos.secret)
    given = {
        "Region": "ap-guangzhou",
        "SecretId": key_id,
        "SecretKey": secret,
        "Token": token[0] if token else None,
        "Scheme": "http",
    }
    return CosS3Client(CosConfig(**{**given, **settings}), retry=0)


def said(action: Callable[[], object]) -> tuple[int, str]:
    """Status and code of the service's error that an action ends with."""
    with pytest.raises(CosServiceError) as caught:
        action()
    return caught.value.get_status_code(), caught.value.get_error_code()


def put(made: CosS3Client, key: str, body: bytes, **settings: Any) -> dict[str, str]:
    """Put one object; the answer's headers."""
    answer: dict[str, str] = made.put_object(COS_BUCKET, body, key, **settings)
    return answer


def get(made: CosS3Client, key: str, **settings: Any) -> bytes:
    """The bytes of one object."""
    answer = made.get_object(COS_BUCKET, key, **settings)
    return bytes(answer["Body"].get_raw_stream().read())


def test_T23_every_key_comes_back(cos: CosServer, key: str) -> None:
    made = client(cos)
    put(made, key, b"abc")
    assert get(made, key) == b"abc"
    assert made.head_object(COS_BUCKET, key)["Content-Length"] == "3"
    listed = made.list_objects(COS_BUCKET)["Contents"]
    assert [each["Key"] for each in listed] == [key]


def test_an_object_is_described_as_it_is(cos: CosServer) -> None:
    made = client(cos)
    answer = put(made, "k", b"abc", Metadata={"x-cos-meta-source": "here"})
    head = made.head_object(COS_BUCKET, "k")
    assert head["ETag"] == answer["ETag"] == f'"{digests.md5(b"abc")}"'
    assert head["x-cos-hash-crc64ecma"] == str(digests.crc64(b"abc"))
    assert head["x-cos-meta-source"] == "here"
    assert "x-cos-version-id" not in answer


def test_what_is_not_there_is_said_so(cos: CosServer) -> None:
    made = client(cos)
    assert said(lambda: get(made, "none")) == (404, "NoSuchKey")
    assert not made.object_exists(COS_BUCKET, "none")
    assert said(lambda: made.get_object("other-1250000000", "k")) == (404, "NoSuchBucket")
    elsewhere = client(cos, Region="ap-shanghai")
    assert said(lambda: get(elsewhere, "k")) == (404, "NoSuchBucket")


def test_a_listing_has_1000_keys(cos: CosServer) -> None:
    for number in range(1001):
        cos.buckets[COS_BUCKET].put(f"k/{number:04}", b"", {}, 0, forbid=False)
    made = client(cos)
    first = made.list_objects(COS_BUCKET, Prefix="k/")
    assert (len(first["Contents"]), first["NextMarker"]) == (1000, "k/0999")
    second = made.list_objects(COS_BUCKET, Prefix="k/", Marker=first["NextMarker"])
    assert ([each["Key"] for each in second["Contents"]], second["IsTruncated"]) == (
        ["k/1000"],
        "false",
    )
    assert made.list_objects(COS_BUCKET, Delimiter="/")["CommonPrefixes"] == [{"Prefix": "k/"}]


def test_ranges_and_conditions(cos: CosServer) -> None:
    made = client(cos)
    etag = put(made, "k", b"0123456789")["ETag"]
    assert get(made, "k", Range="bytes=2-4") == b"234"
    assert get(made, "k", Range="bytes=8-20") == b"89"
    assert said(lambda: get(made, "k", Range="bytes=10-20")) == (416, "InvalidRange")
    assert get(made, "k", IfMatch=etag) == b"0123456789"
    put(made, "k", b"other")
    assert said(lambda: get(made, "k", IfMatch=etag)) == (412, "PreconditionFailed")


def test_T70_an_object_can_be_created_only(cos: CosServer) -> None:
    made = client(cos)
    taken = (409, "FileAlreadyExists")
    put(made, "k", b"one", Metadata=dict(FORBID))
    assert said(lambda: put(made, "k", b"two", Metadata=dict(FORBID))) == taken
    start = made.create_multipart_upload(COS_BUCKET, "other", Metadata=dict(FORBID))
    put(made, "other", b"one")
    assert (
        said(lambda: made.create_multipart_upload(COS_BUCKET, "other", Metadata=dict(FORBID)))
        == taken
    )
    part = made.upload_part(COS_BUCKET, "other", b"parts", 1, start["UploadId"])
    chosen = {"Part": [{"PartNumber": 1, "ETag": part["ETag"]}]}
    made.complete_multipart_upload(COS_BUCKET, "other", start["UploadId"], chosen)
    assert get(made, "other") == b"parts"  # the header at the start guards nothing
    source = {"Bucket": COS_BUCKET, "Key": "other", "Region": "ap-guangzhou"}
    copy = {"Metadata": dict(FORBID), "CopyStatus": "Replaced"}
    assert said(lambda: made.copy_object(COS_BUCKET, "k", source, **copy)) == taken
    made.copy_object(COS_BUCKET, "third", source)
    assert get(made, "third") == b"parts"


def test_versioning_overrules_create_only(cos: CosServer) -> None:
    cos.make_bucket("versions-1250000000", versioning=True)
    made = client(cos)
    versions = [
        made.put_object("versions-1250000000", body, "k", Metadata=dict(FORBID))["x-cos-version-id"]
        for body in (b"one", b"two")
    ]
    assert versions[0] != versions[1]


@pytest.mark.parametrize("racing", [False, True])
def test_racers_for_a_fresh_key(monkeypatch: pytest.MonkeyPatch, racing: bool) -> None:
    with cos_server(racing=racing) as server:
        server.make_bucket(COS_BUCKET)
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        won: list[int] = []

        def race(number: int) -> None:
            try:
                put(client(server), "k", b"%d" % number, Metadata=dict(FORBID))
            except CosServiceError:
                return
            won.append(number)

        racers = [threading.Thread(target=race, args=(number,)) for number in range(2)]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()
        assert len(won) == (2 if racing else 1)
        late = client(server)
        assert said(lambda: put(late, "k", b"late", Metadata=dict(FORBID))) == (
            409,
            "FileAlreadyExists",
        )


def test_an_upload_in_parts(cos: CosServer, tmp_path: Path) -> None:
    body = bytes(range(256)) * 10_000
    (tmp_path / "source").write_bytes(body)
    made = client(cos)
    answer = made.upload_file(COS_BUCKET, "目录/k", str(tmp_path / "source"), PartSize=1)
    assert answer["x-cos-hash-crc64ecma"] == str(digests.crc64(body))
    assert answer["ETag"].strip('"').endswith("-3")
    made.download_file(COS_BUCKET, "目录/k", str(tmp_path / "copy"), EnableCRC=True)
    assert (tmp_path / "copy").read_bytes() == body
    assert cos.buckets[COS_BUCKET].uploads == {}


def test_many_are_deleted_at_once(cos: CosServer) -> None:
    made = client(cos)
    for key in ("a+b", "目录/c"):
        put(made, key, b"")
    wanted = {"Object": [{"Key": "a+b"}, {"Key": "目录/c"}], "Quiet": "false"}
    done = made.delete_objects(COS_BUCKET, wanted)
    assert [each["Key"] for each in done["Deleted"]] == ["a+b", "目录/c"]
    assert "Contents" not in made.list_objects(COS_BUCKET)


def test_another_secret_is_refused(cos: CosServer) -> None:
    other = client(cos, cos.key_id, "not the one")
    assert said(lambda: put(other, "k", b"x")) == (403, "SignatureDoesNotMatch")
    assert "k" not in cos.buckets[COS_BUCKET]


def test_a_token_is_good_until_it_ends(cos: CosServer) -> None:
    made = client(cos, *cos.issue_token(600))
    put(made, "k", b"x")
    cos.skew_seconds = 601
    assert said(lambda: put(made, "k", b"x")) == (400, "ExpiredToken")


def test_a_revoked_key_is_refused(cos: CosServer) -> None:
    cos.revoke(cos.key_id)
    assert said(lambda: put(client(cos), "k", b"x")) == (403, "InvalidAccessKeyId")


def test_T61_a_clock_that_is_off_is_refused(cos: CosServer) -> None:
    made = client(cos)
    cos.skew_seconds = -1200  # the signature begins in the server's future
    assert said(lambda: put(made, "k", b"x")) == (403, "RequestTimeTooSkewed")
    cos.skew_seconds = 10_100  # the SDK signs for 10,000 seconds
    assert said(lambda: put(made, "k", b"x")) == (403, "AccessDenied")


def test_T65_the_bucket_is_in_the_host(cos: CosServer) -> None:
    made = client(cos, Endpoint=f"127.0.0.1:{cos.port}", Domain=f"127.0.0.1:{cos.port}")
    assert said(lambda: put(made, f"{COS_BUCKET}/k", b"x")) == (403, "PathStyleDomainForbidden")


def test_a_custom_domain_is_the_bucket(cos: CosServer) -> None:
    made = client(cos, Domain=cos.cname(COS_BUCKET).removeprefix("http://"))
    put(made, "k", b"x")
    assert get(made, "k") == b"x"


def test_a_signed_url_opens_one_object(cos: CosServer) -> None:
    made = client(cos)
    put(made, "a b", b"abc")
    url = made.get_presigned_url(COS_BUCKET, "a b", "GET", Expired=60)
    assert opened(url) == b"abc"


def test_cosfs_reads_and_writes(cos: CosServer) -> None:
    files = fsspec.filesystem(
        "cos",
        region="ap-guangzhou",
        scheme="http",
        secret_id=cos.key_id,
        secret_key=cos.secret,
        skip_instance_cache=True,
    )
    files.pipe(f"{COS_BUCKET}/目录/a b+c", b"0123456789")
    assert files.cat(f"{COS_BUCKET}/目录/a b+c") == b"0123456789"
    assert files.cat_file(f"{COS_BUCKET}/目录/a b+c", start=2, end=5) == b"234"
    assert files.find(COS_BUCKET) == [f"{COS_BUCKET}/目录/a b+c"]
    assert files.info(f"{COS_BUCKET}/目录/a b+c")["size"] == 10
    files.rm(f"{COS_BUCKET}/目录/a b+c")
    assert not files.exists(f"{COS_BUCKET}/目录/a b+c")
