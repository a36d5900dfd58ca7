"""What the S3 servers beside SeaweedFS do: the facts that their modules state, measured."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import boto3
import obstore
import obstore.exceptions
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from obstore.store import S3Store

from tests.support.moto_server import moto
from tests.support.rclone_server import rclone
from tests.support.s3_server import S3Server

BUCKET = "data"


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """moto, with a bucket."""
    with moto(tmp_path_factory.mktemp("moto")) as server:
        server.make_bucket(BUCKET)
        yield server


@pytest.fixture(scope="module")
def quirk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """rclone, with a bucket."""
    with rclone(tmp_path_factory.mktemp("rclone")) as server:
        server.make_bucket(BUCKET)
        yield server


def botocore_client(server: S3Server, secret: str = "") -> Any:
    """A client that does not retry."""
    return boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        region_name=server.region,
        aws_access_key_id=server.access_key,
        aws_secret_access_key=secret or server.secret_key,
        config=Config(
            retries={"total_max_attempts": 1}, response_checksum_validation="when_required"
        ),
    )


def native(server: S3Server) -> S3Store:
    """obstore's client."""
    return S3Store(
        BUCKET,
        endpoint=server.endpoint,
        region=server.region,
        access_key_id=server.access_key,
        secret_access_key=server.secret_key,
        client_options={"allow_http": True},
        retry_config={"max_retries": 0},
    )


def winners(server: S3Server, key: str) -> int:
    """How many of four concurrent creators of a key are told that they made it."""
    won: list[int] = []

    def race(number: int) -> None:
        try:
            obstore.put(native(server), key, b"%d" % number, mode="create", use_multipart=False)
        except obstore.exceptions.AlreadyExistsError:
            return
        won.append(number)

    racers = [threading.Thread(target=race, args=(number,)) for number in range(4)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    return len(won)


def completed(client: Any, key: str) -> str:
    """Put an object in one part, create-only; its ETag."""
    named = {"Bucket": BUCKET, "Key": key}
    upload = {**named, "UploadId": client.create_multipart_upload(**named)["UploadId"]}
    etag = client.upload_part(**upload, PartNumber=1, Body=b"parts")["ETag"]
    parts = {"Parts": [{"PartNumber": 1, "ETag": etag}]}
    answer = client.complete_multipart_upload(**upload, MultipartUpload=parts, IfNoneMatch="*")
    return str(answer["ETag"])


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    """The code of a service's error."""
    return str(error.value.response["Error"]["Code"])


def test_moto_creates_only(second: S3Server) -> None:
    client = botocore_client(second)
    client.put_object(Bucket=BUCKET, Key="k", Body=b"one")
    for condition in ({"IfNoneMatch": "*"}, {"IfMatch": '"other"'}):
        with pytest.raises(ClientError) as caught:
            client.put_object(Bucket=BUCKET, Key="k", Body=b"two", **condition)
        assert code(caught) == "PreconditionFailed"
    with pytest.raises(ClientError) as caught:
        completed(client, "k")
    assert code(caught) == "PreconditionFailed"
    assert client.get_object(Bucket=BUCKET, Key="k")["Body"].read() == b"one"
    assert [winners(second, f"race/{number}") for number in range(5)] == [1] * 5


def test_moto_reads_ranges_of_one_version(second: S3Server) -> None:
    store = native(second)
    etag = obstore.put(store, "range", b"0123456789", use_multipart=False)["e_tag"]
    assert bytes(obstore.get_range(store, "range", start=2, length=3)) == b"234"
    assert bytes(obstore.get(store, "range", options={"if_match": etag}).bytes()) == b"0123456789"
    with pytest.raises(obstore.exceptions.PreconditionError):
        obstore.get(store, "range", options={"if_match": '"other"'})


def test_T23_moto_keeps_keys(second: S3Server, key: str) -> None:
    client = botocore_client(second)
    client.put_object(Bucket=BUCKET, Key=key, Body=b"abc")
    assert client.get_object(Bucket=BUCKET, Key=key)["Body"].read() == b"abc"
    assert key in [each["Key"] for each in client.list_objects_v2(Bucket=BUCKET)["Contents"]]


def test_moto_checks_no_signature(second: S3Server) -> None:
    botocore_client(second, secret="not the one").put_object(Bucket=BUCKET, Key="any", Body=b"x")


def test_T51_rclone_ignores_conditions_on_writes(quirk: S3Server) -> None:
    client = botocore_client(quirk)
    client.put_object(Bucket=BUCKET, Key="k", Body=b"one")
    client.put_object(Bucket=BUCKET, Key="k", Body=b"two", IfNoneMatch="*")
    client.put_object(Bucket=BUCKET, Key="k", Body=b"three", IfMatch='"other"')
    completed(client, "k")
    assert client.get_object(Bucket=BUCKET, Key="k")["Body"].read() == b"parts"
    assert max(winners(quirk, f"race-{number}") for number in range(5)) > 1


def test_rclone_answers_ranges_with_200_and_ignores_conditions_on_reads(quirk: S3Server) -> None:
    client, named = botocore_client(quirk), {"Bucket": BUCKET, "Key": "range"}
    client.put_object(**named, Body=b"0123456789")
    answer = client.get_object(**named, Range="bytes=2-4", IfMatch='"other"')
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 200
    assert (answer["Body"].read(), answer["ContentRange"]) == (b"234", "bytes 2-4/10")
    with pytest.raises(obstore.exceptions.GenericError, match="non-partial"):
        obstore.get_range(native(quirk), "range", start=2, length=3)


def test_rclone_loses_folders_and_empty_segments(quirk: S3Server) -> None:
    client = botocore_client(quirk)
    client.put_object(Bucket=BUCKET, Key="folder/", Body=b"x")
    assert "folder/" not in [
        each["Key"] for each in client.list_objects_v2(Bucket=BUCKET)["Contents"]
    ]
    with pytest.raises(ClientError) as caught:
        client.put_object(Bucket=BUCKET, Key="a//b", Body=b"x")
    assert code(caught) == "InvalidArgument"


def test_rclone_checks_signatures(quirk: S3Server) -> None:
    with pytest.raises(ClientError) as caught:
        botocore_client(quirk, secret="not the one").put_object(Bucket=BUCKET, Key="k", Body=b"x")
    assert code(caught) == "SignatureDoesNotMatch"
