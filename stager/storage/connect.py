"""From a URL to a store, with its wrappers: the only place where they are stacked.

/data/remote, file:///data/remote   a local directory
s3://bucket/prefix                  S3 or anything that speaks it, through obstore
memory://name                       this process only
anything else                       the fsspec filesystem of that scheme
"""

from __future__ import annotations

from pathlib import Path

from stager.errors import MissingExtra, UsageError
from stager.events import Listener, ignore
from stager.storage.local_store import LocalStore
from stager.storage.options import StorageOptions
from stager.storage.resilient import Counted, Limited, Retrying
from stager.storage.store import ObjectStore

_memory: dict[str, ObjectStore] = {}


def connect(
    url: str, options: StorageOptions | None = None, listener: Listener = ignore
) -> ObjectStore:
    """The store at `url`; UsageError when the URL cannot be one."""
    options = options or StorageOptions()
    options.validate()
    counted = Counted(bare(url, options), listener)
    limited = Limited(counted, options.requests_at_once)
    return Retrying(limited, options.attempts, listener)


def bare(url: str, options: StorageOptions) -> ObjectStore:
    """The store at `url` with nothing around it."""
    scheme, mark, _ = url.partition("://")
    if not mark:
        return LocalStore(Path(url).expanduser())
    if scheme == "file":
        return LocalStore(Path(url.removeprefix("file://") or "/"))
    if options.transport == "fsspec":
        return _fsspec(url, options)
    if scheme == "s3":
        return _s3(url, options)
    if scheme == "memory":
        return _process_memory(url)
    return _fsspec(url, options)


def normalised(url: str) -> str:
    """The one way a remote's URL is written in receipts: no trailing slash, paths absolute."""
    if "://" not in url:
        return f"file://{Path(url).expanduser().absolute()}"
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rstrip('/')}"


def split(url: str) -> tuple[str, str]:
    """An object's absolute URL as the root that can be connected to, and the key below it."""
    scheme, _, rest = url.partition("://")
    authority, _, key = rest.partition("/")
    return f"{scheme}://{authority}/" if scheme == "file" else f"{scheme}://{authority}", key


def _s3(url: str, options: StorageOptions) -> ObjectStore:
    from stager.storage.obstore_store import open_s3

    bucket, _, prefix = url.removeprefix("s3://").partition("/")
    if not bucket:
        raise UsageError(reason=f"{url}: no bucket")
    return open_s3(bucket, prefix.strip("/"), normalised(url), options)


def _process_memory(url: str) -> ObjectStore:
    from stager.storage.obstore_store import open_memory

    if url not in _memory:
        _memory[url] = open_memory(url)
    return _memory[url]


def _fsspec(url: str, options: StorageOptions) -> ObjectStore:
    try:
        from stager.storage.fsspec_store import open_fsspec
    except ImportError as problem:
        raise MissingExtra(purpose=url, package="fsspec", extra="all") from problem
    return open_fsspec(url, options)
