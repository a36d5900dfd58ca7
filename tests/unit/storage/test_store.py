"""storage/store.py: the protocol; what it promises is asked in tests/contract/."""

from __future__ import annotations

import inspect

import pytest

from stager.storage.fsspec_store import FsspecStore
from stager.storage.local_store import LocalStore
from stager.storage.obstore_store import ObstoreStore
from stager.storage.resilient import Wrapper
from stager.storage.store import ObjectStore

METHODS = ["create", "delete", "get", "head", "list", "put", "put_stream", "read", "unfinished"]


@pytest.mark.parametrize("kind", [LocalStore, ObstoreStore, FsspecStore, Wrapper])
@pytest.mark.parametrize("name", METHODS)
def test_every_store_has_the_methods_of_the_protocol_as_they_are(kind: type, name: str) -> None:
    assert inspect.signature(getattr(kind, name)) == inspect.signature(getattr(ObjectStore, name))


@pytest.mark.parametrize("name", METHODS)
def test_every_promise_is_written_down(name: str) -> None:
    assert len(getattr(ObjectStore, name).__doc__ or "") > 20


def test_the_list_above_is_the_protocol() -> None:
    functions = {name for name, value in vars(ObjectStore).items() if inspect.isfunction(value)}
    assert sorted(name for name in functions if not name.startswith("_")) == METHODS
