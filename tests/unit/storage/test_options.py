"""storage/options.py: limits that make sense, and secrets that do not show."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from stager.errors import ConfigError
from stager.storage.credentials.values import CredentialOptions
from stager.storage.options import StorageOptions
from stager.storage.secret import Secret

HIDDEN = "s3cr3t-value"


def test_a_secret_shows_itself_nowhere() -> None:
    secret = Secret(HIDDEN)
    keys = CredentialOptions(
        environ={"AWS_SECRET_ACCESS_KEY": HIDDEN}, secret_access_key=secret, session_token=secret
    )
    options = StorageOptions(credentials=keys)
    shown = [
        repr(secret),
        str(secret),
        f"{secret} {secret!r}",
        "%s %r" % (secret, secret),  # noqa: UP031 - as logging formats
        repr(options),
        logging.LogRecord("", 0, "", 0, "%s", (options,), None).getMessage(),
        str(ConfigError(key="secret_access_key", reason=secret)),
    ]
    assert not [text for text in shown if HIDDEN in text]
    assert secret.reveal() == HIDDEN


def test_defaults_are_in_order() -> None:
    StorageOptions().validate()


@pytest.mark.parametrize(
    "changes",
    [
        {"transport": "carrier pigeon"},
        {"addressing": "dns"},
        {"network": "sneaker"},
        {"stall_seconds": 0.0},
        {"stall_seconds": -1.0},
        {"stall_seconds": float("nan")},
        {"attempts": 0},
        {"requests_at_once": 0},
    ],
    ids=str,
)
def test_a_value_that_cannot_work_is_named(changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        StorageOptions(**changes).validate()
    assert caught.value.fields["key"] == next(iter(changes))
