"""All content of a remote: what stager itself wrote, beside the records."""

from __future__ import annotations

from collections.abc import Iterator

from stager.model import layout
from stager.storage.store import ObjectInfo, ObjectStore


def content(store: ObjectStore) -> Iterator[tuple[str, ObjectInfo]]:
    """(kind, object), kinds as in layout.CONTENT and `unfinished`.

    What others put beside it has another shape of key, or lies elsewhere, and is passed over.
    """
    for kind, prefix in layout.PREFIXES.items():
        for info in store.list(prefix):
            if layout.is_content(kind, info.key):
                yield kind, info
    for info in store.unfinished():
        yield "unfinished", info
