"""storage/fsspec_store.py: what a failure of a filesystem means, and what it cannot promise."""

from __future__ import annotations

from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from stager.errors import AccessDenied, PreconditionFailed, StorageError, StorageUnavailable
from stager.storage import fsspec_store
from stager.storage.fsspec_store import open_fsspec
from stager.storage.options import Secret, StorageOptions

OPTIONS = StorageOptions(transport="fsspec")
URL = "s3://bucket/key"


def refused(status: int, code: str, number: int, text: str) -> OSError:
    """A refusal as s3fs raises it: an OSError caused by botocore's error."""
    facts = {"Error": {"Code": code, "Message": text}}
    facts["ResponseMetadata"] = {"HTTPStatusCode": status}  # type: ignore[dict-item]
    problem = OSError(number, text)
    problem.__cause__ = ClientError(facts, "PutObject")  # type: ignore[arg-type]
    return problem


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (FileExistsError("is"), PreconditionFailed),
        (PermissionError("no"), AccessDenied),
        (refused(412, "PreconditionFailed", 22, "did not hold"), PreconditionFailed),
        (refused(400, "InvalidRequest", 22, "Invalid Request"), StorageError),
        (refused(416, "InvalidRange", 22, "not satisfiable"), StorageError),
        (refused(400, "KeyTooLongError", 36, "too long"), StorageError),
        (NotImplementedError(), StorageError),
        (ValueError("a mistake"), StorageError),
        (TimeoutError(), StorageUnavailable),
        (ConnectionResetError("reset"), StorageUnavailable),
        (OSError(5, "Input/output error"), StorageUnavailable),
        (refused(503, "SlowDown", 16, "reduce your rate"), StorageUnavailable),
        (refused(500, "InternalError", 5, "try again"), StorageUnavailable),
        (refused(403, "AccessDenied", 13, "no"), AccessDenied),
        (ConnectionRefusedError("connect to 127.0.0.1:34125"), StorageUnavailable),
        (OSError("part 412 of 1000: reset"), StorageUnavailable),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else str(value)[-30:],
)
def test_a_failure_becomes_the_class_it_is(problem: Exception, kind: type) -> None:
    assert type(fsspec_store._translate(problem, URL)) is kind


def test_what_cannot_be_promised_is_said() -> None:
    assert not open_fsspec("memory://x", OPTIONS).capabilities.create_only
    s3 = open_fsspec("s3://bucket/team", OPTIONS)
    assert s3.capabilities.create_only
    assert not s3.capabilities.if_match


def test_a_store_lies_below_its_url() -> None:
    store = open_fsspec("memory://one/two", OPTIONS)
    store.put("a/b", b"x")
    assert bytes(open_fsspec("memory://one", OPTIONS).get("two/a/b")) == b"x"
    assert [info.key for info in store.list()] == ["a/b"]


def test_any_filesystem_will_do(tmp_path: Path) -> None:
    store = open_fsspec(f"file://{tmp_path}/remote", OPTIONS)
    store.put("a/b", b"xyz")
    assert bytes(store.get("a/b", 1, 2)) == b"y"
    assert [info.key for info in store.list()] == ["a/b"]
    store.delete(["a/b", "nothing"])
    assert list(store.list()) == []


def test_a_broken_stream_leaves_no_file(tmp_path: Path) -> None:
    def parts() -> object:
        yield b"half"
        raise RuntimeError("the source broke")

    store = open_fsspec(f"file://{tmp_path}/remote", OPTIONS)
    with pytest.raises(RuntimeError):
        store.put_stream("a", parts())  # type: ignore[arg-type]
    assert list(store.list()) == []


def test_keys_reach_s3fs_and_stay_secret() -> None:
    options = StorageOptions(
        access_key_id="id", secret_access_key=Secret("s3cr3t"), endpoint="http://127.0.0.1:9"
    )
    arguments = fsspec_store._arguments("s3", options)
    assert arguments["secret"] == "s3cr3t"
    assert "token" not in arguments
    assert "s3cr3t" not in repr(open_fsspec("s3://bucket", options))
