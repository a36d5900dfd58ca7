"""The version record: the pointer that makes a version exist.

`<remote>/datasets/<name>/versions/<version>.json`, written once, last, create-only. JSON
with sorted keys:

    {"format": 1, "name": ..., "version": ..., "tree": "<digest>",
     "placement": {"key": ..., "stored": bytes, "raw": bytes},
     "parent": "v2" | null, "time": "2026-11-30T22:00:00Z", "author": ..., "message": ...,
     "files": n, "bytes_raw": n, "bytes_new": n, "provenance": {...}}

`bytes_new` is what this version added to the store; `provenance` says where the content
came from (a local path is reduced to its last name), which version it shares content with
(`base`) and how that was known (`matched`: by bytes, or by the hashes of a record index, here
or in the base). What hashes alone say is proved by whoever pulls it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from stager.errors import ManifestInvalid
from stager.model.digest import Digest

FORMAT = 1
MAX_RECORD_BYTES = 1024 * 1024
MAX_PLACEMENT_RAW = 4 * 1024**3

MATCHED = "matched"
BY_BYTES = "by bytes"
BY_INDEX = "by index"


@dataclass(frozen=True, slots=True)
class PlacementKey:
    """Where the placement lies and how large it is: stored, and once decompressed."""

    key: str
    stored: int
    raw: int


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """What is known of a version without reading its placement."""

    name: str
    version: str
    tree: str
    placement: PlacementKey
    parent: str | None
    time: str
    author: str
    message: str
    files: int
    bytes_raw: int
    bytes_new: int
    provenance: Mapping[str, str] = field(default_factory=dict)
    format: int = FORMAT

    @property
    def is_hashed(self) -> bool:
        """False for a version recorded by size and ETag only (`adopt --no-hash`)."""
        return Digest.parse(self.tree).is_proof

    @property
    def is_matched_by_index(self) -> bool:
        """Whether some of the content was only known by hashes to be in the base."""
        return self.provenance.get(MATCHED) == BY_INDEX

    def encode(self) -> bytes:
        """The bytes of the record."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True, indent=1).encode()


def decode(data: bytes, where: str) -> VersionRecord:
    """The record in `data`; ManifestInvalid naming `where` when it is not one."""
    try:
        document = json.loads(data)
        found = document["format"]
        if found != FORMAT:
            raise ValueError(f"format {found!r} is newer than this stager reads ({FORMAT})")
        document["placement"] = _placement_key(document["placement"])
        record = VersionRecord(**document)
        Digest.parse(record.tree)
        _check_types(record)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        reason = str(problem) or type(problem).__name__
        raise ManifestInvalid(where=where, kind="version record", reason=reason) from None
    return record


def _placement_key(document: Mapping[str, object]) -> PlacementKey:
    key, stored, raw = document["key"], document["stored"], document["raw"]
    if not (isinstance(key, str) and isinstance(stored, int) and isinstance(raw, int)):
        raise ValueError("placement: key and sizes expected")
    if not (0 < stored <= MAX_PLACEMENT_RAW and 0 < raw <= MAX_PLACEMENT_RAW):
        raise ValueError(f"placement of {stored} bytes, {raw} decompressed")
    if not key.startswith("placements/") or ".." in key:
        raise ValueError(f"placement key {key[:200]!r}")
    return PlacementKey(key, stored, raw)


def _check_types(record: VersionRecord) -> None:
    for name in ("name", "version", "time", "author", "message"):
        if not isinstance(getattr(record, name), str):
            raise ValueError(f"{name}: text expected")
    for name in ("files", "bytes_raw", "bytes_new"):
        value = getattr(record, name)
        if not isinstance(value, int) or not 0 <= value < 2**63:
            raise ValueError(f"{name}: a count expected")
    if not isinstance(record.provenance, dict):
        raise ValueError("provenance: an object expected")
    texts = [
        "" if record.parent is None else record.parent,
        *record.provenance,
        *record.provenance.values(),
    ]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("parent and provenance: text expected")
    record.encode()  # a lone surrogate in any text is a UnicodeEncodeError, a ValueError
