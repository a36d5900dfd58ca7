"""Credentials by vendor: what was given, else the environment."""

from __future__ import annotations

import time
from collections.abc import Callable

from stager.errors import AccessDenied
from stager.storage.credentials.values import CredentialOptions, Credentials
from stager.storage.secret import Secret

VARIABLES = {
    "aws": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    "oss": ("OSS_ACCESS_KEY_ID", "OSS_ACCESS_KEY_SECRET", "OSS_SESSION_TOKEN"),
    "cos": ("COS_SECRET_ID", "COS_SECRET_KEY", "COS_TOKEN"),
}


class Provider:
    """Holds the credentials of one vendor."""

    def __init__(
        self, vendor: str, options: CredentialOptions, clock: Callable[[], float] = time.time
    ) -> None:
        self._vendor = vendor
        self._options = options

    def current(self) -> Credentials:
        """The credentials in use; AccessDenied when there are none."""
        given = self._options
        if given.access_key_id:
            keys = (given.access_key_id, given.secret_access_key, given.session_token)
            return Credentials(*keys, None, "given")
        key, secret, token = VARIABLES[self._vendor]
        environ = given.environ
        if not environ.get(key):
            hint = f"set {key} and {secret}"
            raise AccessDenied(url=self._vendor, reason="no credentials found", hint=hint)
        return Credentials(
            environ[key],
            Secret(environ.get(secret, "")),
            Secret(environ.get(token, "")),
            None,
            f"environment {key}",
        )

    def renew(self, than: Credentials) -> bool:
        """Whether there are others than those."""
        return False


def provider(
    vendor: str, options: CredentialOptions, clock: Callable[[], float] = time.time
) -> Provider:
    """Who signs for a vendor."""
    return Provider(vendor, options, clock)
