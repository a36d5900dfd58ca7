"""Aliyun's SDK of today as the tests use it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import alibabacloud_oss_v2 as sdk
import pytest

from tests.contract.clouds.conftest import OSS_BUCKET
from tests.support.clouds.oss_server import OssServer

ENDPOINT = "http://oss-cn-hangzhou.aliyuncs.com"


def client(oss: OssServer, secret: str | None = None, **settings: Any) -> sdk.Client:
    """A client of the server, with the good secret unless told otherwise."""
    given = {
        "region": "cn-hangzhou",
        "endpoint": ENDPOINT,
        "credentials_provider": sdk.credentials.StaticCredentialsProvider(
            oss.key_id, secret or oss.secret
        ),
        "retry_max_attempts": 1,
    }
    return sdk.Client(sdk.config.Config(**{**given, **settings}))


def put(made: sdk.Client, key: str, body: bytes, **settings: Any) -> sdk.PutObjectResult:
    """Put one object."""
    return made.put_object(sdk.PutObjectRequest(OSS_BUCKET, key, body=body, **settings))


def get(made: sdk.Client, key: str, **settings: Any) -> sdk.GetObjectResult:
    """Get one object; its body is not read yet."""
    return made.get_object(sdk.GetObjectRequest(OSS_BUCKET, key, **settings))


def refusal(action: Callable[[], object]) -> Any:
    """The service's error that an action ends with: status_code, code, ec."""
    with pytest.raises(sdk.exceptions.OperationError) as caught:
        action()
    return caught.value.unwrap()


def said(action: Callable[[], object]) -> tuple[int, str]:
    """Status and code of the service's error that an action ends with."""
    error = refusal(action)
    return error.status_code, error.code
