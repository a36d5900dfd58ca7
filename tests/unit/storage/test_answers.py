"""storage/answers.py: what a refusal means, in every dialect."""

from __future__ import annotations

import pytest

from stager.errors import (
    AccessDenied,
    CredentialsExpired,
    ObjectNotFound,
    PreconditionFailed,
    StorageError,
    StorageThrottled,
    StorageUnavailable,
)
from stager.storage.answers import V1_REFUSED, Answer, meaning

URL = "oss://bucket/key"


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "ExpiredToken", CredentialsExpired),
        (403, "SecurityTokenExpired", CredentialsExpired),
        (403, "InvalidAccessKeyId", AccessDenied),
        (403, "SecondLevelDomainForbidden", AccessDenied),
        (403, "PathStyleDomainForbidden", AccessDenied),
        (401, "", AccessDenied),
        (404, "NoSuchKey", ObjectNotFound),
        (404, "NoSuchBucket", StorageError),
        (409, "FileAlreadyExists", PreconditionFailed),
        (412, "PreconditionFailed", PreconditionFailed),
        (409, "OperationAborted", StorageUnavailable),
        (400, "RequestTimeout", StorageUnavailable),
        (400, "MissingArgument", StorageError),
        (501, "NotImplemented", StorageError),
        (500, "InternalError", StorageUnavailable),
        (502, "", StorageUnavailable),
        (503, "SlowDown", StorageThrottled),
        (503, "DownloadTrafficRateLimitExceeded", StorageThrottled),
        (429, "", StorageThrottled),
        (301, "PermanentRedirect", StorageError),
        (307, "", StorageError),
    ],
)
def test_a_refusal_is_the_class_it_is(status: int, code: str, kind: type) -> None:
    assert type(meaning(Answer(status, code, code), URL)) is kind


def test_no_answer_means_nothing() -> None:
    assert meaning(Answer(0, "", "connection reset"), URL) is None


def test_T61_a_clock_that_is_wrong_is_measured() -> None:
    words = (
        "<Code>RequestTimeTooSkewed</Code><RequestTime>20261201T052000Z</RequestTime>"
        "<ServerTime>2026-12-01T05:00:00Z</ServerTime>"
    )
    found = meaning(Answer(403, "RequestTimeTooSkewed", words), URL)
    assert isinstance(found, AccessDenied)
    assert "1200 s ahead" in found.hint
    found = meaning(Answer(403, "RequestTimeTooSkewed", "no times"), URL)
    assert found is not None
    assert "clock is wrong" in found.hint


def test_T64_T65_what_to_do_about_a_path_style_is_said() -> None:
    found = meaning(Answer(403, "SecondLevelDomainForbidden", "no"), URL)
    assert found is not None
    assert "virtual" in found.hint


def test_a_signature_that_is_too_old_is_said() -> None:
    found = meaning(Answer(403, "InvalidRequest", f"V1 ... {V1_REFUSED}"), URL)
    assert found is not None
    assert "V1" in found.hint


def test_where_a_bucket_of_another_region_answers_is_said() -> None:
    words = "<Code>AccessDenied</Code><Endpoint>oss-cn-beijing.aliyuncs.com</Endpoint>"
    found = meaning(Answer(403, "AccessDenied", words), URL)
    assert isinstance(found, AccessDenied)
    assert "oss-cn-beijing.aliyuncs.com" in found.hint


def test_words_are_one_line_of_bounded_length() -> None:
    found = meaning(Answer(400, "X", "a\n b" * 1000), URL)
    assert found is not None
    assert "\n" not in str(found)
    assert len(str(found)) < 700
