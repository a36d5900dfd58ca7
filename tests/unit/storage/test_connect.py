"""storage/connect.py: from a URL to a store with its wrappers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.errors import ConfigError, UsageError
from stager.events import Event, Requested
from stager.storage.adaptive import Adaptive
from stager.storage.connect import bare, connect, normalised, signer, split
from stager.storage.fsspec_store import FsspecStore
from stager.storage.local_store import LocalStore
from stager.storage.obstore_store import ObstoreStore
from stager.storage.options import StorageOptions
from stager.storage.oss_store import OssStore
from stager.storage.resilient import Counted, Retrying

OPTIONS = StorageOptions()


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("/data/remote", LocalStore),
        ("file:///data/remote", LocalStore),
        ("s3://bucket/team", ObstoreStore),
        ("gs://bucket/team", ObstoreStore),
        ("memory://trial", ObstoreStore),
    ],
)
def test_the_scheme_chooses_the_store(url: str, kind: type) -> None:
    assert type(bare(url, OPTIONS)) is kind


def test_fsspec_can_be_asked_for() -> None:
    assert isinstance(bare("memory://x", StorageOptions(transport="fsspec")), FsspecStore)


def test_the_wrappers_are_stacked_so_that_a_retry_waits_without_a_slot(tmp_path: Path) -> None:
    heard: list[Event] = []
    store = connect(str(tmp_path), OPTIONS, heard.append)
    assert isinstance(store, Retrying)
    assert isinstance(store.inner, Adaptive)
    assert isinstance(store.inner.inner, Counted)
    store.put("a", b"x")
    assert [type(event) for event in heard] == [Requested]


def test_bad_options_stop_before_anything_is_asked() -> None:
    with pytest.raises(ConfigError):
        connect("/data", StorageOptions(attempts=0))


@pytest.mark.parametrize("url", ["s3://", "s3:///key", "nosuchscheme://x"])
def test_a_url_that_cannot_be_one_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        connect(url, OPTIONS)


def test_oss_without_its_sdk_promises_less(monkeypatch: pytest.MonkeyPatch) -> None:
    options = StorageOptions(region="cn-x")
    assert type(bare("oss://bucket", options)) is OssStore
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    poor = bare("oss://bucket", options)
    assert type(poor) is ObstoreStore
    assert not poor.capabilities.create_only
    assert "alibabacloud-oss-v2" in poor.capabilities.limits[0]


def test_cos_promises_less() -> None:
    store = bare("cos://bucket-1250000000", StorageOptions(region="ap-x"))
    assert not store.capabilities.create_only


def test_public_buckets_are_asked_unsigned() -> None:
    assert signer("s3://bucket", StorageOptions(anonymous=True)) is None
    assert signer("s3://bucket", OPTIONS) is not None
    assert signer("/data", OPTIONS) is None


def test_one_name_of_process_memory_is_one_store() -> None:
    bare("memory://one", OPTIONS).put("a", b"x")
    assert bytes(bare("memory://one", OPTIONS).get("a")) == b"x"
    assert list(bare("memory://two", OPTIONS).list()) == []


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("/data/remote", "file:///data/remote"),
        ("/data/remote/", "file:///data/remote"),
        ("file:///data/remote/", "file:///data/remote"),
        ("s3://bucket/team/", "s3://bucket/team"),
        ("s3://bucket", "s3://bucket"),
    ],
)
def test_a_remote_is_written_one_way(url: str, wanted: str) -> None:
    assert normalised(url) == wanted
    assert normalised(wanted) == wanted


def test_a_relative_path_is_made_absolute() -> None:
    assert normalised("data") == f"file://{Path.cwd()}/data"


@pytest.mark.parametrize("url", ["s3://", "memory://", "file:///"])
def test_a_scheme_without_a_place_does_not_become_a_local_folder(url: str) -> None:
    assert "://" in normalised(url)


@given(
    st.sampled_from(["s3://bucket", "oss://bucket", "file://"]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(lambda key: key.strip("/")),
)
def test_an_absolute_url_splits_into_root_and_key(root: str, key: str) -> None:
    found = split(f"{root}/{key}")
    assert found == (f"{root}/" if root == "file://" else root, key)


def test_an_object_of_the_disk_is_found_again(tmp_path: Path) -> None:
    (tmp_path / "a b").write_bytes(b"x")
    root, key = split(f"file://{tmp_path}/a b")
    assert bytes(bare(root, OPTIONS).get(key)) == b"x"
