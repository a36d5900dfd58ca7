"""The stores under contract, by name, each opened fresh for a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stager.events import ignore
from stager.storage.adaptive import Adaptive
from stager.storage.connect import bare
from stager.storage.create_only import NonceCreate
from stager.storage.local_store import LocalStore
from stager.storage.obstore_store import open_memory
from stager.storage.options import StorageOptions
from stager.storage.resilient import Counted, Retrying
from stager.storage.store import ObjectStore
from tests.support.s3_server import S3Server

BUCKET = "contract"


@dataclass(frozen=True)
class Place:
    """Where a test may put its store: a fresh folder, a fresh name, a server when asked."""

    folder: Path
    name: str
    server: Callable[[], S3Server]


def _s3(place: Place, transport: str) -> ObjectStore:
    server = place.server()
    server.make_bucket(BUCKET)
    options = StorageOptions(
        endpoint=server.endpoint,
        credentials=server.credentials(),
        transport=transport,
    )
    return bare(f"s3://{BUCKET}/{place.name}", options)


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
    "retrying": lambda place: Retrying(_local(place), 3, ignore),
    "retrying-s3": lambda place: Retrying(_s3(place, "auto"), 3, ignore),
    "adaptive": lambda place: Adaptive(_local(place), 2),
    "counted": lambda place: Counted(_local(place), ignore),
    "nonce": lambda place: NonceCreate(_local(place), sleep=lambda seconds: None),
}
NOT_HERE = {"ossfs": "needs the OSS server of the clouds issue"}

SEAWEEDFS = frozenset({"s3", "s3fs", "retrying-s3"})
