"""The OSS server against Aliyun's SDK of today, which signs V4: objects, listings, parts."""

from __future__ import annotations

import alibabacloud_oss_v2 as sdk
import pytest

from tests.contract.clouds.conftest import OSS_BUCKET
from tests.contract.clouds.oss_client import client, get, put, refusal, said
from tests.support.clouds import digests
from tests.support.clouds.oss_server import OssServer


def test_T23_every_key_comes_back(oss: OssServer, key: str) -> None:
    made = client(oss)
    put(made, key, b"abc")
    assert get(made, key).body.read() == b"abc"
    listed = made.list_objects_v2(sdk.ListObjectsV2Request(OSS_BUCKET)).contents
    assert [each.key for each in listed] == [key]


def test_an_object_is_described_as_it_is(oss: OssServer) -> None:
    body = b"0123456789" * 1000
    made = client(oss)
    answer = put(made, "k", body, content_type="text/plain", metadata={"source": "here"})
    head = made.head_object(sdk.HeadObjectRequest(OSS_BUCKET, "k"))
    assert head.content_length == len(body)
    assert head.etag == answer.etag == f'"{digests.md5(body).upper()}"'
    assert int(head.hash_crc64) == int(answer.hash_crc64) == digests.crc64(body)
    assert (head.content_type, head.object_type) == ("text/plain", "Normal")
    assert head.metadata == {"source": "here"}
    assert answer.version_id is None


def test_what_is_not_there_is_said_so(oss: OssServer) -> None:
    made = client(oss)
    assert said(lambda: get(made, "none")) == (404, "NoSuchKey")
    head = refusal(lambda: made.head_object(sdk.HeadObjectRequest(OSS_BUCKET, "none")))
    assert (head.status_code, head.code, head.ec) == (404, "NoSuchKey", "0026-00000001")
    other = sdk.GetObjectRequest("nowhere", "k")
    assert said(lambda: made.get_object(other)) == (404, "NoSuchBucket")


def test_a_listing_has_100_keys_unless_told_otherwise(oss: OssServer) -> None:
    for number in range(1050):
        oss.buckets[OSS_BUCKET].put(f"k/{number:04}", b"", {}, 0, forbid=False)
    made = client(oss)
    plain = made.list_objects(sdk.ListObjectsRequest(OSS_BUCKET))
    assert (len(plain.contents), plain.is_truncated, plain.next_marker) == (100, True, "k/0099")
    second = made.list_objects_v2(sdk.ListObjectsV2Request(OSS_BUCKET, max_keys=1000))
    assert (len(second.contents), second.is_truncated) == (1000, True)
    too_many = sdk.ListObjectsV2Request(OSS_BUCKET, max_keys=1001)
    assert said(lambda: made.list_objects_v2(too_many)) == (400, "InvalidArgument")
    pages = made.list_objects_v2_paginator(limit=300).iter_page(
        sdk.ListObjectsV2Request(OSS_BUCKET)
    )
    keys = [each.key for page in pages for each in page.contents]
    assert keys == [f"k/{number:04}" for number in range(1050)]


def test_T28_a_listing_by_folders_goes_on_where_it_stopped(oss: OssServer) -> None:
    for key in ("a/1", "a/2", "a-b", "b", "b/1", "c"):
        oss.buckets[OSS_BUCKET].put(key, b"", {}, 0, forbid=False)
    made = client(oss)
    found: list[str] = []
    request = sdk.ListObjectsV2Request(OSS_BUCKET, delimiter="/", max_keys=1)
    for page in made.list_objects_v2_paginator().iter_page(request):
        found += [each.key for each in page.contents or []]
        found += [each.prefix for each in page.common_prefixes or []]
    assert found == ["a-b", "a/", "b", "b/", "c"]


def test_a_range_is_a_range_when_it_is_inside(oss: OssServer) -> None:
    made = client(oss)
    put(made, "k", b"0123456789")
    part = get(made, "k", range_header="bytes=2-4")
    assert (part.status_code, part.body.read()) == (206, b"234")
    assert part.content_range == "bytes 2-4/10"
    assert get(made, "k", range_header="bytes=-3").body.read() == b"789"


@pytest.mark.parametrize("span", ["bytes=8-20", "bytes=10-20", "bytes=-11"])
def test_a_range_that_leaves_the_object_is_ignored(oss: OssServer, span: str) -> None:
    made = client(oss)
    put(made, "k", b"0123456789")
    whole = get(made, "k", range_header=span)
    assert (whole.status_code, whole.body.read()) == (200, b"0123456789")


def test_a_range_can_be_asked_to_behave(oss: OssServer) -> None:
    made = client(oss)
    put(made, "k", b"0123456789")
    part = get(made, "k", range_header="bytes=8-20", range_behavior="standard")
    assert (part.status_code, part.body.read()) == (206, b"89")
    outside = refusal(lambda: get(made, "k", range_header="bytes=10-20", range_behavior="standard"))
    assert (outside.status_code, outside.code) == (416, "InvalidRange")


def test_T31_reads_can_be_conditional(oss: OssServer) -> None:
    made = client(oss)
    etag = put(made, "k", b"one").etag
    assert get(made, "k", if_match=etag).body.read() == b"one"
    assert refusal(lambda: get(made, "k", if_none_match=etag)).status_code == 304
    put(made, "k", b"two")
    assert said(lambda: get(made, "k", if_match=etag)) == (412, "PreconditionFailed")


@pytest.mark.parametrize("header", ["If-None-Match", "If-Match"])
def test_writes_cannot_be_conditional(oss: OssServer, header: str) -> None:
    made = client(oss)
    answer = said(lambda: put(made, "k", b"x", headers={header: "*"}))
    assert answer == (501, "NotImplemented")


def test_T70_an_object_can_be_created_only(oss: OssServer) -> None:
    made = client(oss)
    put(made, "k", b"one", forbid_overwrite=True)
    refused = refusal(lambda: put(made, "k", b"two", forbid_overwrite=True))
    assert (refused.status_code, refused.code) == (409, "FileAlreadyExists")
    assert refused.ec == "0026-00000002"
    copy = sdk.CopyObjectRequest(OSS_BUCKET, "k", source_key="k", forbid_overwrite=True)
    assert said(lambda: made.copy_object(copy)) == (409, "FileAlreadyExists")
    assert get(made, "k").body.read() == b"one"


def test_T70_an_upload_in_parts_checks_at_its_start_and_at_its_end(oss: OssServer) -> None:
    made = client(oss)
    begin = sdk.InitiateMultipartUploadRequest(OSS_BUCKET, "k", forbid_overwrite=True)
    upload = made.initiate_multipart_upload(begin).upload_id
    made.upload_part(sdk.UploadPartRequest(OSS_BUCKET, "k", 1, upload, body=b"parts"))
    put(made, "k", b"other")
    assert said(lambda: made.initiate_multipart_upload(begin)) == (409, "FileAlreadyExists")
    parts = sdk.CompleteMultipartUpload(
        parts=[sdk.UploadPart(part_number=1, etag=digests.md5(b"parts"))]
    )
    end = sdk.CompleteMultipartUploadRequest(
        OSS_BUCKET, "k", upload, complete_multipart_upload=parts, forbid_overwrite=True
    )
    refused = refusal(lambda: made.complete_multipart_upload(end))
    assert (refused.status_code, refused.ec) == (409, "0042-00000214")
    end.forbid_overwrite = None
    made.complete_multipart_upload(end)
    assert get(made, "k").body.read() == b"parts"  # the header at the start guards nothing


def test_versioning_overrules_create_only(oss: OssServer) -> None:
    oss.make_bucket("versions", versioning=True)
    made = client(oss)
    first, second = (
        made.put_object(
            sdk.PutObjectRequest("versions", "k", body=body, forbid_overwrite=True)
        ).version_id
        for body in (b"one", b"two")
    )
    assert first and second and first != second
    old = made.get_object(sdk.GetObjectRequest("versions", "k", version_id=first))
    assert old.body.read() == b"one"


def test_an_upload_in_parts(oss: OssServer) -> None:
    made = client(oss)
    size = 100 * 1024
    body = bytes(range(256)) * 1000
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    upload = made.initiate_multipart_upload(
        sdk.InitiateMultipartUploadRequest(OSS_BUCKET, "数 据")
    ).upload_id
    parts = [
        sdk.UploadPart(
            part_number=number,
            etag=made.upload_part(
                sdk.UploadPartRequest(OSS_BUCKET, "数 据", number, upload, body=piece)
            ).etag,
        )
        for number, piece in enumerate(pieces, 1)
    ]
    listed = made.list_parts(sdk.ListPartsRequest(OSS_BUCKET, "数 据", upload)).parts
    assert [(each.part_number, each.size) for each in listed] == [
        (number, len(piece)) for number, piece in enumerate(pieces, 1)
    ]
    done = made.complete_multipart_upload(
        sdk.CompleteMultipartUploadRequest(
            OSS_BUCKET,
            "数 据",
            upload,
            complete_multipart_upload=sdk.CompleteMultipartUpload(parts=parts),
        )
    )
    assert int(done.hash_crc64) == digests.crc64(body)
    assert done.etag.strip('"').endswith(f"-{len(pieces)}")
    assert get(made, "数 据").body.read() == body
    again = sdk.ListPartsRequest(OSS_BUCKET, "数 据", upload)
    assert said(lambda: made.list_parts(again)) == (404, "NoSuchUpload")


def test_a_part_can_be_copied(oss: OssServer) -> None:
    made = client(oss)
    put(made, "目录/source", b"0123456789")
    upload = made.initiate_multipart_upload(
        sdk.InitiateMultipartUploadRequest(OSS_BUCKET, "k")
    ).upload_id
    copied = made.upload_part_copy(
        sdk.UploadPartCopyRequest(
            OSS_BUCKET, "k", 1, upload, source_key="目录/source", source_range="bytes=2-4"
        )
    )
    parts = [sdk.UploadPart(part_number=1, etag=copied.etag)]
    made.complete_multipart_upload(
        sdk.CompleteMultipartUploadRequest(
            OSS_BUCKET,
            "k",
            upload,
            complete_multipart_upload=sdk.CompleteMultipartUpload(parts=parts),
        )
    )
    assert get(made, "k").body.read() == b"234"


def test_parts_that_are_wrong_are_refused(oss: OssServer) -> None:
    made = client(oss)
    upload = made.initiate_multipart_upload(
        sdk.InitiateMultipartUploadRequest(OSS_BUCKET, "k")
    ).upload_id
    for number in (1, 2):
        made.upload_part(sdk.UploadPartRequest(OSS_BUCKET, "k", number, upload, body=b"short"))

    def complete(*chosen: tuple[int, str]) -> object:
        parts = [sdk.UploadPart(part_number=number, etag=etag) for number, etag in chosen]
        return made.complete_multipart_upload(
            sdk.CompleteMultipartUploadRequest(
                OSS_BUCKET,
                "k",
                upload,
                complete_multipart_upload=sdk.CompleteMultipartUpload(parts=parts),
            )
        )

    etag = digests.md5(b"short")
    assert said(lambda: complete((1, etag), (2, etag))) == (400, "EntityTooSmall")
    assert said(lambda: complete((1, "0" * 32))) == (400, "InvalidPart")
    made.abort_multipart_upload(sdk.AbortMultipartUploadRequest(OSS_BUCKET, "k", upload))
    assert said(lambda: complete((1, etag))) == (404, "NoSuchUpload")


def test_many_are_deleted_at_once(oss: OssServer) -> None:
    made = client(oss)
    keys = ["a+b", "目录/", "c d"]
    for key in keys:
        put(made, key, b"")
    wanted = [sdk.DeleteObject(key=key) for key in [*keys, "never was"]]
    done = made.delete_multiple_objects(
        sdk.DeleteMultipleObjectsRequest(OSS_BUCKET, objects=wanted)
    )
    assert [each.key for each in done.deleted_objects] == [*keys, "never was"]
    assert not made.list_objects_v2(sdk.ListObjectsV2Request(OSS_BUCKET)).contents
