"""`stager adopt URL NAME`: a prefix that exists becomes a version without copying."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import boto3
import pytest

from stager.storage.connect import connect
from tests.integration.test_push import make
from tests.support import corpus
from tests.support.command import Stager, contents


@pytest.fixture
def prefix(stager: Stager, tmp_path: Path) -> tuple[str, Path]:
    """`.../datasets/alpaca/v3/` as teams have it today, and a local copy of what it holds."""
    source = tmp_path / "source"
    source.mkdir()
    corpus.jsonl(source / "train.jsonl", 20_000_000, seed=5)
    corpus.small_files(source / "images", 20, 2000, 20_000, seed=6)
    url = f"{stager.remote.removesuffix('/team')}/datasets/alpaca/v3"
    store = connect(url, stager.workspace().config.storage)
    for name, data in contents(source).items():
        store.put(name, data)
    return url, source


def test_adopted_without_copying(stager: Stager, prefix: tuple[str, Path]) -> None:
    url, source = prefix
    report = stager.json("adopt", url, "alpaca")
    assert report["reference"] == "alpaca@v1"
    assert report["bytes_stored"] == 0
    assert report["bytes_transferred"] == sum(map(len, contents(source).values()))
    stager.ok("pull", "alpaca@v1")
    assert contents(stager.path("alpaca@v1")) == contents(source)


def test_the_same_content_is_the_same_tree_however_it_lies(
    stager: Stager, prefix: tuple[str, Path]
) -> None:
    url, source = prefix
    trees = {
        stager.json("adopt", url, "adopted")["tree"],
        stager.json("push", source, "packed")["tree"],
        stager.json("push", source, "plain", "--plain")["tree"],
    }
    assert len(trees) == 1


def test_T33_unhashed_reads_nothing_until_the_first_pull_finds_the_digests(
    stager: Stager, prefix: tuple[str, Path], tmp_path: Path
) -> None:
    url, source = prefix
    report = stager.json("adopt", url, "alpaca", "--no-hash")
    assert report["requests"]["get"] <= 2  # the remote's own format, no data
    assert report["tree"].startswith("etag:")
    first = stager.json("pull", "alpaca@v1")
    assert first["tree"] == stager.json("push", source, "packed")["tree"]
    other = stager.at(tmp_path / "second-node")
    second = other.json("pull", "alpaca@v1")
    assert second["tree"] == first["tree"]
    assert contents(Path(second["path"])) == contents(source)


@pytest.mark.parametrize("how", [[], ["--no-hash"]])
def test_T31_an_object_that_changed_is_named_and_never_served(
    stager: Stager, prefix: tuple[str, Path], how: list[str]
) -> None:
    url, source = prefix
    stager.ok("adopt", url, "alpaca", *how)
    store = connect(url, stager.workspace().config.storage)
    data = bytearray((source / "train.jsonl").read_bytes())
    data[1000] ^= 1
    store.put("train.jsonl", data)
    gone = next(name for name in contents(source) if name.startswith("images/"))
    store.delete([gone])
    result = stager.run("pull", "alpaca@v1")
    assert result.code == 23
    assert "train.jsonl" in result.stderr
    assert gone in result.stderr
    assert stager.run("path", "alpaca@v1").code == 40


def test_T31_an_object_of_the_same_size_is_not_taken_for_the_one_whose_etag_was_trusted(
    stager: Stager, prefix: tuple[str, Path]
) -> None:
    url, source = prefix
    stager.ok("adopt", url, "alpaca", "--no-hash")
    data = bytearray((source / "train.jsonl").read_bytes())
    data[1000] ^= 1
    connect(url, stager.workspace().config.storage).put("train.jsonl", data)
    result = stager.run("pull", "alpaca@v1")
    assert result.code == 23
    assert "train.jsonl" in result.stderr


def test_T17_T20_folder_placeholders(local: Stager, tmp_path: Path) -> None:
    """A local folder has no placeholders; S3 has, see the next test."""
    source = make(tmp_path / "prefix", {"data/a": b"1"})
    local.ok("adopt", source, "p")
    local.ok("pull", "p@v1")
    assert contents(local.path("p@v1")) == {"data/a": b"1"}


def test_T19_an_empty_object_under_a_folders_name_on_s3(on_s3: Stager) -> None:
    client = _client(on_s3)
    bucket = on_s3.remote.split("/")[2]
    client.put_object(Bucket=bucket, Key="old/data/", Body=b"")
    client.put_object(Bucket=bucket, Key="old/data/a.txt", Body=b"1")
    on_s3.ok("adopt", f"s3://{bucket}/old", "p")
    on_s3.ok("pull", "p@v1")
    assert contents(on_s3.path("p@v1")) == {"data/a.txt": b"1"}


def test_T26_a_key_that_cannot_be_a_file_is_named(local: Stager, tmp_path: Path) -> None:
    source = make(tmp_path / "prefix", {"ok": b"1", "Ok": b"2", "back\\slash": b"3"})
    result = local.run("adopt", source, "p")
    assert result.code == 50
    assert "back\\\\slash" in result.stderr and "'Ok'" in result.stderr


def test_nothing_there(stager: Stager) -> None:
    url = f"{stager.remote}/not-there"
    assert stager.run("adopt", url, "p").code == 2


def test_a_push_after_an_adoption_shares_its_frames(
    stager: Stager, prefix: tuple[str, Path]
) -> None:
    url, source = prefix
    stager.ok("adopt", url, "alpaca")
    with open(source / "train.jsonl", "ab") as file:
        file.write(b'{"appended": true}\n')
    report = stager.json("push", source, "alpaca")
    assert report["bytes_stored"] < 0.3 * report["bytes_raw"]
    stager.ok("pull", "alpaca@v2")
    assert contents(stager.path("alpaca@v2")) == contents(source)


def _client(stager: Stager) -> Any:
    environment = stager.environment
    return boto3.client(
        "s3",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        region_name=environment["AWS_REGION"],
    )
