"""storage/obstore_store.py: what a failure of obstore means to us."""

from __future__ import annotations

import pytest
from obstore import exceptions as foreign

from stager.errors import (
    AccessDenied,
    ObjectNotFound,
    ObjectUnaddressable,
    PreconditionFailed,
    StorageError,
    StorageUnavailable,
)
from stager.storage import obstore_store
from stager.storage.obstore_store import open_memory, open_s3
from stager.storage.options import Secret, StorageOptions

URL = "s3://bucket/key"


def client_error(status: str, body: str = "") -> foreign.BaseError:
    """A refusal as obstore words it."""
    return foreign.GenericError(
        f"Generic S3 error: Error performing PUT http://127.0.0.1:9000/{'k' * 600} in 1ms - "
        f"Server returned non-2xx status code: {status}: {body}"
    )


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (FileNotFoundError("no"), ObjectNotFound),
        (foreign.AlreadyExistsError("is"), PreconditionFailed),
        (foreign.PreconditionError("is"), PreconditionFailed),
        (foreign.PermissionDeniedError("no"), AccessDenied),
        (foreign.UnauthenticatedError("no"), AccessDenied),
        (foreign.InvalidPathError("no"), ObjectUnaddressable),
        (foreign.GenericError("<Code>ExpiredToken</Code>"), AccessDenied),
        (foreign.GenericError("<Code>SignatureDoesNotMatch</Code>"), AccessDenied),
        (client_error("400 Bad Request"), StorageError),
        (client_error("416 Range Not Satisfiable"), StorageError),
        (client_error("429 Too Many Requests"), StorageUnavailable),
        (client_error("408 Request Timeout"), StorageUnavailable),
        (client_error("500 Internal Server Error"), StorageUnavailable),
        (client_error("503 Slow Down", "SlowDown"), StorageUnavailable),
        (foreign.GenericError("connection reset by peer"), StorageUnavailable),
        (ValueError("a mistake in an argument"), StorageError),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else str(value)[-40:],
)
def test_T5_a_failure_becomes_the_class_it_is(problem: Exception, kind: type) -> None:
    assert type(obstore_store._translate(problem, URL)) is kind


@pytest.mark.parametrize("name", ["AccessDenied.jsonl", "ExpiredToken", "400"])
def test_the_name_of_an_object_does_not_decide_what_a_failure_means(name: str) -> None:
    problem = foreign.GenericError(
        f"Generic S3 error: Error performing GET http://127.0.0.1:9000/bucket/{name} in 1ms - "
        "Server returned non-2xx status code: 503 Service Unavailable: "
    )
    assert type(obstore_store._translate(problem, f"s3://bucket/{name}")) is StorageUnavailable


def test_missing_credentials_are_said_to_be_missing() -> None:
    problem = foreign.GenericError("error sending request for url (http://169.254.169.254/latest)")
    found = obstore_store._translate(problem, URL)
    assert isinstance(found, AccessDenied)
    assert "AWS_ACCESS_KEY_ID" in found.hint


def test_a_message_is_one_line_of_bounded_length() -> None:
    found = obstore_store._translate(foreign.GenericError("a\n  b\t" * 1000), URL)
    assert "\n" not in str(found)
    assert len(str(found)) < 700


def test_no_secret_is_in_a_failure_to_connect() -> None:
    options = StorageOptions(
        endpoint="http://127.0.0.1:9",  # the discard port: nobody listens
        access_key_id="id",
        secret_access_key=Secret("s3cr3t-value"),
        session_token=Secret("t0k3n-value"),
    )
    store = open_s3("bucket", "team", "s3://bucket/team", options)
    with pytest.raises(StorageUnavailable) as caught:
        store.get("key")
    shown = f"{caught.value} {caught.value.__cause__} {store._client!r}"
    assert "s3cr3t-value" not in shown
    assert "t0k3n-value" not in shown


def test_keys_lie_below_the_prefix() -> None:
    place = obstore_store._Place("s3://bucket/team", "team")
    assert place.path("a/b") == "team/a/b"
    assert place.key("team/a/b") == "a/b"
    assert obstore_store._Place("s3://bucket", "").path("a") == "a"


def test_memory_belongs_to_its_store() -> None:
    one, two = open_memory("memory://one"), open_memory("memory://one")
    one.put("a", b"x")
    assert list(two.list()) == []
