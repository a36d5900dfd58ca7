"""storage/fsspec_errors.py: what a failure of a filesystem means to us."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError
from oss2.exceptions import ServerError

from stager.errors import (
    AccessDenied,
    CredentialsExpired,
    PreconditionFailed,
    StorageError,
    StorageThrottled,
    StorageUnavailable,
)
from stager.storage.fsspec_errors import translate

URL = "s3://bucket/key"


def refused(status: int, code: str, number: int, text: str) -> OSError:
    """A refusal as s3fs raises it: an OSError caused by botocore's error."""
    facts = {"Error": {"Code": code, "Message": text}}
    facts["ResponseMetadata"] = {"HTTPStatusCode": status}  # type: ignore[dict-item]
    problem = OSError(number, text)
    problem.__cause__ = ClientError(facts, "PutObject")  # type: ignore[arg-type]
    return problem


def aliyun(status: int, code: str) -> OSError:
    """A refusal as ossfs raises it: an OSError in the handling of oss2's error."""
    problem = OSError(22, code)
    problem.__context__ = ServerError(status, {}, "", {"Code": code, "Message": "no"})
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
        (refused(503, "SlowDown", 16, "reduce your rate"), StorageThrottled),
        (refused(500, "InternalError", 5, "try again"), StorageUnavailable),
        (refused(403, "AccessDenied", 13, "no"), AccessDenied),
        (refused(400, "ExpiredToken", 22, "expired"), CredentialsExpired),
        (aliyun(403, "SecurityTokenExpired"), CredentialsExpired),
        (aliyun(409, "FileAlreadyExists"), PreconditionFailed),
        (ConnectionRefusedError("connect to 127.0.0.1:34125"), StorageUnavailable),
        (OSError("part 412 of 1000: reset"), StorageUnavailable),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else str(value)[-30:],
)
def test_a_failure_becomes_the_class_it_is(problem: Exception, kind: type) -> None:
    assert type(translate(problem, URL)) is kind


def test_why_a_v1_signature_is_refused_is_said() -> None:
    problem = OSError("InvalidRequest")
    details = {"Code": "InvalidRequest", "EC": "0002-00000080", "Message": "V1"}
    problem.__cause__ = ServerError(403, {}, "", details)
    assert "signs V1" in translate(problem, "oss://bucket/key").hint
