"""The stores under contract, by name, each opened fresh for a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stager.events import ignore
from stager.storage.adaptive import Adaptive
from stager.storage.connect import bare
from stager.storage.create_only import NonceCreate
from stager.storage.credentials.values import CredentialOptions
from stager.storage.local_store import LocalStore
from stager.storage.obstore_store import open_memory
from stager.storage.options import StorageOptions
from stager.storage.resilient import Counted, Retrying
from stager.storage.secret import Secret
from stager.storage.store import ObjectStore
from tests.support.clouds.cloud import Cloud
from tests.support.clouds.cos_server import CosServer
from tests.support.clouds.oss_server import OssServer
from tests.support.s3_server import S3Server

BUCKET = "contract"


@dataclass(frozen=True)
class Place:
    """Where a test may put its store: a fresh folder, a fresh name, a server when asked."""

    folder: Path
    name: str
    server: Callable[[str], S3Server]
    oss: Callable[[], OssServer]
    cos: Callable[[], CosServer]


def _s3(place: Place, transport: str, kind: str = "s3_server") -> ObjectStore:
    server = place.server(kind)
    server.make_bucket(BUCKET)
    options = StorageOptions(
        endpoint=server.endpoint,
        credentials=server.credentials(),
        transport=transport,
    )
    return bare(f"s3://{BUCKET}/{place.name}", options)


def _oss(place: Place, transport: str = "auto", **bucket: bool) -> ObjectStore:
    """Through the vendor's host names: the server is the proxy of this test's process."""
    cloud = place.oss()
    cloud.make_bucket(place.name, **bucket)
    options = StorageOptions(
        endpoint=f"http://oss-{cloud.default_region}.aliyuncs.com",
        credentials=keys_of(cloud),
        transport=transport,
    )
    return bare(f"oss://{place.name}/team", options)


def _oss_by_s3fs(place: Place) -> ObjectStore:
    cloud = place.oss()
    cloud.make_bucket(place.name)
    endpoint = f"http://s3.oss-{cloud.default_region}.aliyuncs.com"
    options = StorageOptions(endpoint=endpoint, credentials=keys_of(cloud), transport="fsspec")
    return bare(f"s3://{place.name}/team", options)


def _cos(place: Place, transport: str = "auto") -> ObjectStore:
    cloud = place.cos()
    name = f"{place.name[-40:].lstrip('-')}-1250000000"
    cloud.make_bucket(name)
    options = StorageOptions(
        endpoint=f"http://cos.{cloud.default_region}.myqcloud.com",
        credentials=keys_of(cloud),
        transport=transport,
    )
    return bare(f"cos://{name}/team", options)


def keys_of(cloud: Cloud) -> CredentialOptions:
    """The key pair of a cloud's owner."""
    return CredentialOptions(access_key_id=cloud.key_id, secret_access_key=Secret(cloud.secret))


def _local(place: Place) -> ObjectStore:
    return LocalStore(place.folder / "remote")


STORES: dict[str, Callable[[Place], ObjectStore]] = {
    "local": _local,
    "memory": lambda place: open_memory(f"memory://{place.name}"),
    "s3": lambda place: _s3(place, "auto"),
    "fsspec-memory": lambda place: bare(
        f"memory://{place.name}", StorageOptions(transport="fsspec")
    ),
    "s3fs": lambda place: _s3(place, "fsspec"),
    "moto": lambda place: _s3(place, "auto", "moto_server"),
    "retrying": lambda place: Retrying(_local(place), 3, ignore),
    "retrying-s3": lambda place: Retrying(_s3(place, "auto"), 3, ignore),
    "adaptive": lambda place: Adaptive(_local(place), 2),
    "counted": lambda place: Counted(_local(place), ignore),
    "nonce": lambda place: NonceCreate(_local(place), sleep=lambda seconds: None),
}
RACERS: dict[str, Callable[[Place], ObjectStore]] = {
    "oss": _oss,
    "oss-versioned": lambda place: _oss(place, versioning=True),
    "cos": _cos,
    "moto": lambda place: _s3(place, "auto", "moto_server"),
    "rclone": lambda place: _s3(place, "auto", "rclone_server"),
    "ossfs": lambda place: _oss(place, "fsspec", v1_allowed=True),
    "cosfs": lambda place: _cos(place, "fsspec"),
}
CLOUDS: dict[str, Callable[[Place], ObjectStore]] = {
    "oss": _oss,
    "oss-s3fs": _oss_by_s3fs,
    "ossfs": lambda place: _oss(place, "fsspec", v1_allowed=True),
    "cos": _cos,
    "cosfs": lambda place: _cos(place, "fsspec"),
}
STORES |= CLOUDS

S3FS = frozenset({"s3fs", "oss-s3fs"})
SEAWEEDFS = frozenset({"s3", "s3fs", "retrying-s3"})
