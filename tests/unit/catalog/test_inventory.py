"""catalog/inventory.py: stager's own content, and nobody else's."""

from __future__ import annotations

from pathlib import Path

from stager.catalog.inventory import content
from stager.model import layout
from stager.model.digest import digest_of
from stager.storage.local_store import TEMPORARY, LocalStore


def test_T17_content_is_found_by_kind_and_strangers_are_not(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    digest = digest_of(b"x")
    own = {
        ("packs", layout.pack_key(digest)),
        ("indexes", layout.records_key(layout.pack_key(digest))),
        ("placements", layout.placement_key(digest)),
        ("plain", layout.plain_key("a/b", digest, "c/d")),
        ("probes", "probes/0123456789abcdef"),
    }
    strangers = (
        "packs/README",
        "plain/notes",
        "derived/aa/x",
        "runs/r/1/x",
        "mine/data",
        "stager.json",
    )
    for key in [*(key for _, key in own), *strangers, layout.version_key("a", "v1")]:
        store.put(key, b"1")
    temporary = f"packs/aa/{TEMPORARY}7-x"
    store.put(temporary, b"half")
    assert {(kind, info.key) for kind, info in content(store)} == {*own, ("unfinished", temporary)}
