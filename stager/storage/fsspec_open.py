"""Opening fsspec filesystems: s3fs, ossfs, cosfs with an address and keys, others by URL."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from stager.errors import ConfigError, MissingExtra, UsageError
from stager.storage.address import AWS, CNAME, OSS, SCHEMES, Address, locate
from stager.storage.credentials.chain import Provider
from stager.storage.credentials.redaction import redacted, stand_in
from stager.storage.credentials.values import Credentials
from stager.storage.fsspec_store import FsspecStore
from stager.storage.options import StorageOptions
from stager.storage.store import Capabilities

EXTRAS = {
    "s3": ("s3fs", "s3"),
    "oss": ("ossfs", "oss"),
    "cos": ("cosfs", "cos"),
    "cosn": ("cosfs", "cos"),
    "gs": ("gcsfs", "all"),
    "az": ("adlfs", "all"),
}
PER_THREAD = frozenset({"oss"})  # threads lose entries of ossfs's listing cache to each other
_UNPINNED = "reads are compared before and after, not pinned by the store"
_LOOKS = "creating looks first, and can be overtaken"
_NO_ETAG = "ossfs shows no ETag: objects are told apart by their size and second"
_V1 = "ossfs signs V1, which OSS refuses of accounts and buckets made since 2025"


def open_fsspec(url: str, options: StorageOptions, keys: Provider | None) -> FsspecStore:
    """A store for any URL that fsspec knows; MissingExtra when its package is not installed."""
    scheme = url.partition("://")[0]
    if scheme not in SCHEMES:
        filesystem, root = _opened(url, scheme, {})
        capabilities = Capabilities(create_only=False, if_match=False, limits=(_UNPINNED, _LOOKS))
        return FsspecStore(lambda: filesystem, url, root, scheme, capabilities)
    address = locate(url, options)
    if address.addressing == CNAME:
        reason = 'a domain that is the bucket needs transport = "auto"'
        raise ConfigError(key="transport", reason=reason)
    plain = f"{scheme}://{address.bucket}/{address.prefix}".rstrip("/")
    opener = _Opener(plain, scheme, address, keys)
    return FsspecStore(opener, url, opener.root, scheme, _capabilities(scheme, address))


def _capabilities(scheme: str, address: Address) -> Capabilities:
    if scheme in ("s3", "s3a") and address.vendor == AWS:
        return Capabilities(if_match=False, limits=(_UNPINNED,))
    if scheme == OSS:
        limits = (_UNPINNED, _LOOKS, _V1, _NO_ETAG)
        return Capabilities(create_only=False, if_match=False, etags=False, limits=limits)
    return Capabilities(create_only=False, if_match=False, limits=(_UNPINNED, _LOOKS))


class _Opener:
    """The filesystem of one address, made anew when its keys are no longer the current ones."""

    def __init__(self, url: str, scheme: str, address: Address, keys: Provider | None) -> None:
        self._url = url
        self._scheme = scheme
        self._address = address
        self._keys = keys
        self._made: Any = threading.local() if scheme in PER_THREAD else SimpleNamespace()
        self.root = f"{address.bucket}/{address.prefix}".rstrip("/")

    def __call__(self) -> Any:
        used = self._keys.current() if self._keys else None
        mine = self._made
        if getattr(mine, "filesystem", None) is None or used != mine.keys:
            arguments = _ARGUMENTS[self._scheme](self._address, used)
            arguments["skip_instance_cache"] = True
            mine.filesystem, self.root = _opened(self._url, self._scheme, arguments)
            if self._scheme == OSS:
                _refuse_denied_listings(mine.filesystem)
            mine.keys = used
        return mine.filesystem


def _refuse_denied_listings(filesystem: Any) -> None:
    """ossfs takes a listing that is denied for an empty one; a gc must not."""
    listing = filesystem._get_object_info_list

    def strict(*arguments: Any, **options: Any) -> Any:
        try:
            return listing(*arguments, **options)
        except Exception as problem:
            if getattr(problem, "status", 0) == 403:
                raise PermissionError(str(problem)) from problem
            raise

    filesystem._get_object_info_list = strict


def _opened(url: str, scheme: str, arguments: dict[str, Any]) -> tuple[Any, str]:
    import fsspec

    try:
        filesystem, root = fsspec.core.url_to_fs(url, **arguments)
    except ImportError as problem:
        package, extra = EXTRAS.get(scheme, (str(problem), "all"))
        raise MissingExtra(purpose=f"{scheme}://", package=package, extra=extra) from problem
    except ValueError as problem:
        if scheme in EXTRAS and "Protocol not known" in str(problem):
            package, extra = EXTRAS[scheme]
            raise MissingExtra(purpose=f"{scheme}://", package=package, extra=extra) from problem
        raise UsageError(reason=f"{url}: {redacted(str(problem))}") from stand_in(problem)
    return filesystem, root.rstrip("/")


def _s3(address: Address, keys: Credentials | None) -> dict[str, Any]:
    """For s3fs. Checksums only where required: OSS and COS refuse trailing ones."""
    given: dict[str, Any] = {"anon": True} if keys is None else _named(keys, "key", "secret")
    if address.s3_endpoint:
        given["endpoint_url"] = address.s3_endpoint
    given["client_kwargs"] = {"region_name": address.region}
    given["config_kwargs"] = {
        "s3": {"addressing_style": address.addressing},
        "request_checksum_calculation": "when_required",
        "response_checksum_validation": "when_required",
    }
    return given


def _oss(address: Address, keys: Credentials | None) -> dict[str, Any]:
    return {"endpoint": address.endpoint, **(_named(keys, "key", "secret") if keys else {})}


def _cos(address: Address, keys: Credentials | None) -> dict[str, Any]:
    scheme, _, host = address.endpoint.partition("://")
    given = {"region": address.region, "scheme": scheme, "endpoint": host}
    named = _named(keys, "secret_id", "secret_key") if keys else {"anonymous": True}
    return {**given, **named}


def _named(keys: Credentials, key: str, secret: str) -> dict[str, Any]:
    """Keys under a filesystem's own names; it asks its environment for what is not given."""
    found = {key: keys.access_key_id, secret: keys.secret_access_key.reveal()}
    token = keys.session_token.reveal()
    return {**found, "token": token} if token else found


_ARGUMENTS: dict[str, Callable[[Address, Credentials | None], dict[str, Any]]] = {
    "s3": _s3,
    "s3a": _s3,
    "oss": _oss,
    "cos": _cos,
    "cosn": _cos,
}
