"""storage/obstore_store.py: keys and their paths, memory, and what a failure shows."""

from __future__ import annotations

import pytest

from stager.errors import StorageUnavailable
from stager.storage import obstore_store
from stager.storage.connect import bare
from stager.storage.credentials.values import CredentialOptions
from stager.storage.obstore_store import open_memory
from stager.storage.options import StorageOptions
from stager.storage.secret import Secret


def test_no_secret_is_in_a_failure_to_connect() -> None:
    keys = CredentialOptions(
        access_key_id="id",
        secret_access_key=Secret("s3cr3t-value"),
        session_token=Secret("t0k3n-value"),
    )
    # the discard port: nobody listens
    options = StorageOptions(endpoint="http://127.0.0.1:9", credentials=keys)
    store = bare("s3://bucket/team", options)
    assert isinstance(store, obstore_store.ObstoreStore)
    with pytest.raises(StorageUnavailable) as caught:
        store.get("key")
    shown = f"{caught.value} {caught.value.__cause__} {store._clients.reading!r}"
    assert "s3cr3t-value" not in shown
    assert "t0k3n-value" not in shown


def test_keys_lie_below_the_prefix() -> None:
    place = obstore_store._Place("s3://bucket/team", "team")
    assert place.path("a/b") == "team/a/b"
    assert place.key("team/a/b") == "a/b"
    assert obstore_store._Place("s3://bucket", "").path("a") == "a"


def test_memory_belongs_to_its_store() -> None:
    one, two = open_memory("memory://one"), open_memory("memory://one")
    one.put("a", b"x")
    assert list(two.list()) == []
