"""The keys that a cloud knows, the tokens it has issued, and its clock."""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.support.clouds.refusals import AuthFailure, Fault

MAX_SKEW_SECONDS = 900  # OSS says MaxAllowedSkewMilliseconds 900000; S3 has the same


class Clock:
    """The time of the server: this machine's, off by `skew_seconds`."""

    def __init__(self) -> None:
        self.skew_seconds = 0.0

    def now(self) -> float:
        """Seconds since the epoch, as the server believes."""
        return time.time() + self.skew_seconds

    def check(self, moment: float) -> None:
        """Refuse a request signed too long before or after now."""
        now = self.now()
        if abs(now - moment) > MAX_SKEW_SECONDS:
            raise AuthFailure(
                Fault.SKEW,
                {
                    "MaxAllowedSkewMilliseconds": str(MAX_SKEW_SECONDS * 1000),
                    "RequestTime": iso_time(moment),
                    "ServerTime": iso_time(now),
                },
            )


def iso_time(moment: float) -> str:
    """A moment as the XML answers write it: UTC, milliseconds, Z."""
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%M:%S}.000Z"


def basic_time(text: str) -> float:
    """The moment of `20260131T120000Z`; AuthFailure when it is not one."""
    try:
        return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise AuthFailure(Fault.MALFORMED) from None


@dataclass(frozen=True)
class Key:
    """A key pair; of a temporary one also its token and when it ends."""

    secret: str
    token: str | None = None
    expires: float | None = None


class Keyring:
    """Key pairs by id: permanent ones, and temporary ones as an STS issues them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._keys: dict[str, Key] = {}
        self._lock = threading.Lock()

    def add(self, key_id: str, secret: str) -> None:
        """Let a permanent key pair in."""
        with self._lock:
            self._keys[key_id] = Key(secret)

    def issue(self, seconds: float) -> tuple[str, str, str]:
        """A temporary key pair with its token: (id, secret, token), good for so many seconds."""
        key_id = f"STS.{secrets.token_hex(8)}"
        key = Key(secrets.token_hex(16), secrets.token_hex(48), self._clock.now() + seconds)
        with self._lock:
            self._keys[key_id] = key
        return key_id, key.secret, str(key.token)

    def revoke(self, key_id: str) -> None:
        """Forget a key pair; whoever signs with it is refused from now on."""
        with self._lock:
            self._keys.pop(key_id, None)

    def secret(self, key_id: str, token: str | None) -> str:
        """The secret of a key that is good now; AuthFailure says why it is not."""
        with self._lock:
            key = self._keys.get(key_id)
        if key is None:
            raise AuthFailure(Fault.KEY, {"AccessKeyId": key_id})
        if key.token != token:
            raise AuthFailure(Fault.TOKEN)
        if key.expires is not None and self._clock.now() >= key.expires:
            raise AuthFailure(Fault.EXPIRED)
        return key.secret
