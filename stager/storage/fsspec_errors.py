"""What a failure of an fsspec filesystem means: by type, else by the answer inside it.

botocore, oss2 and the COS SDK each keep the HTTP status and the store's code in errors of
their own; s3fs, ossfs and cosfs wrap some of these into OSErrors and keep them as the cause.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stager.errors import (
    AccessDenied,
    ObjectNotFound,
    PreconditionFailed,
    StorageError,
    StorageUnavailable,
)
from stager.storage.answers import SHOWN, Answer, meaning
from stager.storage.credentials.redaction import redacted


def translate(problem: Exception, url: str) -> StorageError:
    """The most specific error of our own; transient where trying again can help."""
    text = redacted(" ".join(str(problem).split()))[:SHOWN] or type(problem).__name__
    if isinstance(problem, FileExistsError):
        return PreconditionFailed(url=url)
    if isinstance(problem, (FileNotFoundError, IsADirectoryError)):
        return ObjectNotFound(url=url)
    for cause in _causes(problem):
        answer = _answer(cause)
        if answer is not None and (known := meaning(answer, url)) is not None:
            return known
    if isinstance(problem, PermissionError):
        return AccessDenied(url=url, reason=text)
    if isinstance(problem, (ValueError, TypeError, NotImplementedError)):
        return StorageError(url=url, reason=text)
    return StorageUnavailable(url=url, reason=text)


def _causes(problem: BaseException | None) -> Iterator[BaseException]:
    while problem is not None:
        yield problem
        problem = problem.__cause__ or problem.__context__


def _answer(problem: BaseException) -> Answer | None:
    """The refusal that an SDK's error holds; None when it holds none."""
    found: Any = getattr(problem, "response", None)  # botocore
    if isinstance(found, dict):
        status = found.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        code = found.get("Error", {}).get("Code", "")
        return Answer(int(status or 0), str(code), str(problem))
    status = getattr(problem, "status", None)  # oss2
    if isinstance(status, int) and status > 0:
        return Answer(status, str(getattr(problem, "code", "")), str(problem))
    by_call = getattr(problem, "get_status_code", None)  # the COS SDK
    if callable(by_call):
        code = str(getattr(problem, "get_error_code", str)())
        return Answer(_number(by_call()), code, str(problem))
    return None


def _number(value: object) -> int:
    text = str(value)
    return int(text) if text.isdecimal() else 0
