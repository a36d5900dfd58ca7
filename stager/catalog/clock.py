"""What time it is at the store, which is the time by which the age of its objects counts."""

from __future__ import annotations

import os

from stager.model.layout import PROBES
from stager.storage.store import ObjectStore


def now(store: ObjectStore) -> float:
    """Seconds since the epoch by the store's clock: three requests, nothing is left behind.

    0.0 where the store does not say when objects were written.
    """
    key = f"{PROBES}{os.urandom(8).hex()}"
    store.put(key, b"now")
    try:
        return store.head(key).modified
    finally:
        store.delete([key])
