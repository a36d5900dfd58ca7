"""storage/obstore_errors.py: what a failure of obstore means to us."""

from __future__ import annotations

import pytest
from obstore import exceptions as foreign

from stager.errors import (
    AccessDenied,
    CredentialsExpired,
    ObjectNotFound,
    ObjectUnaddressable,
    PreconditionFailed,
    StorageError,
    StorageThrottled,
    StorageUnavailable,
)
from stager.storage.obstore_errors import translate

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
        (foreign.GenericError("<Code>ExpiredToken</Code>"), CredentialsExpired),
        (
            foreign.PermissionDeniedError("<Code>SecurityTokenExpired</Code>"),
            CredentialsExpired,
        ),
        (foreign.GenericError("<Code>SignatureDoesNotMatch</Code>"), AccessDenied),
        (client_error("400 Bad Request"), StorageError),
        (client_error("416 Range Not Satisfiable"), StorageError),
        (client_error("429 Too Many Requests"), StorageThrottled),
        (client_error("408 Request Timeout"), StorageUnavailable),
        (client_error("500 Internal Server Error"), StorageUnavailable),
        (client_error("503 Slow Down", "SlowDown"), StorageThrottled),
        (client_error("400 Bad", "<Code>RequestTimeout</Code>"), StorageUnavailable),
        (client_error("501 Not Implemented"), StorageError),
        (client_error("301 Moved", "<Code>PermanentRedirect</Code>"), StorageError),
        (FileNotFoundError("404: <Code>NoSuchBucket</Code>"), StorageError),
        (foreign.GenericError("connection reset by peer"), StorageUnavailable),
        (ValueError("a mistake in an argument"), StorageError),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else str(value)[-40:],
)
def test_T5_a_failure_becomes_the_class_it_is(problem: Exception, kind: type) -> None:
    assert type(translate(problem, URL)) is kind


@pytest.mark.parametrize("name", ["AccessDenied.jsonl", "ExpiredToken", "400"])
def test_the_name_of_an_object_does_not_decide_what_a_failure_means(name: str) -> None:
    problem = foreign.GenericError(
        f"Generic S3 error: Error performing GET http://127.0.0.1:9000/bucket/{name} in 1ms - "
        "Server returned non-2xx status code: 503 Service Unavailable: "
    )
    assert type(translate(problem, f"s3://bucket/{name}")) is StorageThrottled


def test_a_message_is_one_line_of_bounded_length() -> None:
    found = translate(foreign.GenericError("a\n  b\t" * 1000), URL)
    assert "\n" not in str(found)
    assert len(str(found)) < 700
