"""obstore clients for the addresses of the clouds: how they sign, and how long they wait.

A client's only time limit is one without progress. For what is read that is the pause between
two reads. For what is written obstore shows no progress: its limit runs while the body goes
out and the answer has not begun. So an upload is given time by its size, at a rate that
halves with each upload that ran out of it; a slow link is learned, not refused.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from stager.storage.address import OSS, Address
from stager.storage.credentials.chain import Provider
from stager.storage.options import StorageOptions

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig

ASK_AGAIN = timedelta(minutes=4)  # obstore keeps credentials that hold for more than five
FIRST_RATE = 256 * 1024  # bytes a second that an upload must make, at first
LEAST_RATE = 4 * 1024
FORBID_OVERWRITE = {"x-cos-forbid-overwrite": "true"}
# Without it OSS answers a range that it cannot satisfy with 200 and the whole object.
STRICT_RANGES = {"x-oss-range-behavior": "standard"}
NO_RETRIES: RetryConfig = {"max_retries": 0, "retry_timeout": timedelta(seconds=1)}

Opener = Callable[["ClientConfig"], Any]


class Clients:
    """One client for reading, and one for each patience that writing asks for."""

    def __init__(self, open_client: Opener, stall_seconds: float) -> None:
        self._open = open_client
        self._stall = stall_seconds
        self._made: dict[tuple[int, bool], Any] = {}
        self._rate = FIRST_RATE
        self._lock = threading.Lock()
        self.reading = open_client(self._waiting(stall_seconds))

    @contextmanager
    def writing(self, size: int, create: bool = False) -> Iterator[Any]:
        """A client whose patience is enough for `size` bytes; learns from one that was not."""
        step = math.ceil(math.log2(1 + size / (self._rate * self._stall)))
        patience = self._stall * 2**step
        began = time.monotonic()
        try:
            yield self._client(step, create)
        except Exception:
            if size and time.monotonic() - began >= patience * 0.99:
                self._rate = max(LEAST_RATE, self._rate // 2)
            raise

    def _client(self, step: int, create: bool) -> Any:
        with self._lock:
            if (step, create) not in self._made:
                options = self._waiting(self._stall * 2**step)
                if create:
                    options["default_headers"] = FORBID_OVERWRITE
                self._made[step, create] = self._open(options)
            return self._made[step, create]

    @staticmethod
    def _waiting(seconds: float) -> ClientConfig:
        stall = timedelta(seconds=seconds)
        return {
            "allow_http": True,
            "timeout": timedelta(days=7),
            "read_timeout": stall,
            "connect_timeout": min(stall, timedelta(seconds=10)),
        }


def s3(address: Address, options: StorageOptions, keys: Provider | None) -> Clients:
    """Clients of S3, or of a dialect of it, at `address`; unsigned without `keys`."""
    from obstore.store import S3Store

    given: dict[str, Any] = {"region": address.region}
    if address.base:
        given["endpoint"] = address.base
    if keys is None:
        given["skip_signature"] = True
    else:
        given["credential_provider"] = _asking(keys)

    def opened(client_options: ClientConfig) -> Any:
        if address.vendor == OSS:
            client_options = {"default_headers": STRICT_RANGES, **client_options}
        return S3Store(
            address.bucket,
            **given,
            virtual_hosted_style_request=address.host_is_bucket,
            client_options=client_options,
            retry_config=NO_RETRIES,
        )

    return Clients(opened, options.stall_seconds)


def google(bucket: str, options: StorageOptions) -> Clients:
    """Clients of Google Cloud Storage; obstore finds the application's default credentials."""
    from obstore.store import GCSStore

    given: dict[str, Any] = {"skip_signature": True} if options.anonymous else {}
    return Clients(
        lambda waiting: GCSStore(bucket, **given, client_options=waiting, retry_config=NO_RETRIES),
        options.stall_seconds,
    )


def azure(container: str, options: StorageOptions) -> Clients:
    """Clients of Azure Blob Storage; obstore reads AZURE_STORAGE_* and managed identities."""
    from obstore.store import AzureStore

    given: dict[str, Any] = {"skip_signature": True} if options.anonymous else {}
    if options.endpoint:
        given["endpoint"] = options.endpoint
    return Clients(
        lambda waiting: AzureStore(
            container, **given, client_options=waiting, retry_config=NO_RETRIES
        ),
        options.stall_seconds,
    )


def _asking(keys: Provider) -> Callable[[], dict[str, Any]]:
    """The provider as obstore calls it: again for nearly every request, so none is outdated."""

    def current() -> dict[str, Any]:
        found = keys.current()
        return {
            "access_key_id": found.access_key_id,
            "secret_access_key": found.secret_access_key.reveal(),
            "token": found.session_token.reveal() or None,
            "expires_at": datetime.now(UTC) + ASK_AGAIN,
        }

    return current


def memory() -> Clients:
    """Clients of a memory of their own."""
    from obstore.store import MemoryStore

    store = MemoryStore()
    return Clients(lambda _: store, 1.0)
