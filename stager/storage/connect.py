"""From a URL to a store, with its wrappers: the only place where they are stacked.

/data/remote, file:///data/remote   a local directory
s3://bucket/prefix                  S3 or anything that speaks it, through obstore
oss://bucket/prefix                 Aliyun OSS: its S3 dialect, and its own for records
cos://bucket-appid/prefix           Tencent COS, through its S3 dialect
gs://bucket/prefix                  Google Cloud Storage
az://container/prefix               Azure Blob Storage, of the account in AZURE_STORAGE_ACCOUNT_NAME
memory://name                       this process only
anything else                       the fsspec filesystem of that scheme
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from stager.errors import MissingExtra, UsageError
from stager.events import Listener, ignore
from stager.storage.adaptive import Adaptive
from stager.storage.address import COS, OSS, SCHEMES, locate, refuse_secrets
from stager.storage.credentials.chain import Provider, provider
from stager.storage.local_store import LocalStore
from stager.storage.options import StorageOptions
from stager.storage.resilient import Counted, Retrying
from stager.storage.store import Capabilities, ObjectStore

BOTH_WIN = Capabilities(
    create_only=False, limits=("of two who create a key at once, both may be told they did",)
)
NO_SDK = Capabilities(
    create_only=False,
    limits=("without the package alibabacloud-oss-v2, creating cannot be made exclusive",),
)

_memory: dict[str, ObjectStore] = {}


def connect(
    url: str, options: StorageOptions | None = None, listener: Listener = ignore
) -> ObjectStore:
    """The store at `url`; UsageError when the URL cannot be one."""
    options = options or StorageOptions()
    options.validate()
    keys = signer(url, options)
    counted = Counted(_bare(url, options, keys), listener)
    adaptive = Adaptive(counted, options.requests_at_once)
    return Retrying(adaptive, options.attempts, listener, renewal=keys)


def signer(url: str, options: StorageOptions) -> Provider | None:
    """Who signs requests to `url`; None where the store is local, open, or signs by itself."""
    vendor = SCHEMES.get(url.partition("://")[0])
    if vendor is None or options.anonymous:
        return None
    return provider(locate(url, options).vendor, options.credentials)


def bare(url: str, options: StorageOptions) -> ObjectStore:
    """The store at `url` with nothing around it."""
    return _bare(url, options, signer(url, options))


def _bare(url: str, options: StorageOptions, keys: Provider | None) -> ObjectStore:
    scheme, mark, _ = url.partition("://")
    if not mark:
        return LocalStore(Path(url).expanduser())
    if scheme == "file":
        return LocalStore(Path(url.removeprefix("file://") or "/"))
    refuse_secrets(url)
    if options.transport == "fsspec":
        return _fsspec(url, options, keys)
    if scheme in SCHEMES:
        return _dialect(url, options, keys)
    if scheme in ("gs", "gcs", "az", "azure"):
        return _foreign(url, options)
    if scheme == "memory":
        return _process_memory(url)
    return _fsspec(url, options, keys)


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


def _dialect(url: str, options: StorageOptions, keys: Provider | None) -> ObjectStore:
    """S3, and the stores that speak it beside a dialect of their own."""
    from stager.storage import clients
    from stager.storage.obstore_store import HEADER, NOTHING, ObstoreStore

    address = locate(url, options)
    spoken = clients.s3(address, options, keys)
    place = (spoken, normalised(url), address.prefix)
    if address.vendor == COS:
        return ObstoreStore(*place, BOTH_WIN, HEADER)
    if address.vendor != OSS or keys is None:
        return ObstoreStore(*place)
    if importlib.util.find_spec("alibabacloud_oss_v2") is None:
        return ObstoreStore(*place, NO_SDK, NOTHING)
    from stager.storage.oss_store import OssStore, native

    return OssStore(spoken, normalised(url), address, native(address, options, keys))


def _foreign(url: str, options: StorageOptions) -> ObjectStore:
    from stager.storage import clients
    from stager.storage.obstore_store import ObstoreStore

    scheme, _, rest = url.partition("://")
    bucket, _, prefix = rest.partition("/")
    if not bucket:
        raise UsageError(reason=f"{url}: no bucket")
    opened = clients.google if scheme in ("gs", "gcs") else clients.azure
    return ObstoreStore(opened(bucket, options), normalised(url), prefix.strip("/"))


def _process_memory(url: str) -> ObjectStore:
    from stager.storage.obstore_store import open_memory

    if url not in _memory:
        _memory[url] = open_memory(url)
    return _memory[url]


def _fsspec(url: str, options: StorageOptions, keys: Provider | None) -> ObjectStore:
    try:
        from stager.storage.fsspec_open import open_fsspec
    except ImportError as problem:
        raise MissingExtra(purpose=url, package="fsspec", extra="all") from problem
    return open_fsspec(url, options, keys)
