"""`stager.json` at the root of a remote: its format, and what its store honours."""

from __future__ import annotations

import contextlib
import json

from stager.catalog import landed
from stager.catalog.again import twice
from stager.errors import ManifestInvalid, ObjectNotFound, PreconditionFailed
from stager.events import Listener, Warned
from stager.model.layout import FORMAT_KEY
from stager.storage.create_only import NonceCreate, probe
from stager.storage.store import ObjectStore

FORMAT = 1
MAX_BYTES = 64 * 1024


def open_for_reading(store: ObjectStore) -> ObjectStore:
    """The store, once its format is known to be readable; a remote without one is empty."""
    with contextlib.suppress(ObjectNotFound):
        _facts(store)
    return store


def facts(store: ObjectStore) -> dict[str, object] | None:
    """What `stager.json` says; None where nothing was pushed yet."""
    try:
        return _facts(store)
    except ObjectNotFound:
        return None


def open_for_writing(store: ObjectStore, listener: Listener) -> ObjectStore:
    """The store with a create() that holds; the first writer probes and leaves the answer."""
    try:
        known = _facts(store)
    except ObjectNotFound:
        known = _begin(store)
    if known.get("create_only", True) and store.capabilities.create_only:
        return store
    listener(Warned(f"{store.url} does not promise create-only writes: records are read back"))
    return NonceCreate(store)


def _begin(store: ObjectStore) -> dict[str, object]:
    known: dict[str, object] = {"format": FORMAT, "create_only": probe(store)}
    try:
        landed.create(store, FORMAT_KEY, json.dumps(known, sort_keys=True).encode())
    except PreconditionFailed:
        return _facts(store)
    return known


def _facts(store: ObjectStore) -> dict[str, object]:
    return twice(lambda: _read_once(store))


def _read_once(store: ObjectStore) -> dict[str, object]:
    where = f"{store.url}/{FORMAT_KEY}"
    try:
        known = json.loads(bytes(store.read(FORMAT_KEY, MAX_BYTES)))
        found = known["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise ManifestInvalid(where=where, kind="remote", reason=str(problem)) from None
    if found != FORMAT:
        reason = f"format {found!r} is newer than this stager reads ({FORMAT}): upgrade stager"
        raise ManifestInvalid(where=where, kind="remote", reason=reason)
    return dict(known)
