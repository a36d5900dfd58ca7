"""Values that several unit tests share: placements over packs held in a dict."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from stager.model.digest import Digest, digest_of
from stager.model.layout import pack_key
from stager.model.placement import Frame, Pack, Placement, PlacementBuilder, Slice
from stager.model.tree import FileEntry
from stager.model.version import PlacementKey, VersionRecord
from stager.packs import codec

TREE = str(digest_of(b"a tree"))


def entry(path: str, content: bytes = b"") -> FileEntry:
    """The tree entry of a file with this content."""
    return FileEntry(path, len(content), digest_of(content))


def placed(
    contents: Mapping[str, bytes], frame_bytes: int = 64
) -> tuple[Placement, dict[str, bytes]]:
    """Files in frames of at most `frame_bytes`, all frames in one pack; and the pack by key."""
    encoded: list[tuple[str, list[codec.Encoded]]] = []
    for path, content in contents.items():
        spans = range(0, len(content), frame_bytes)
        encoded.append((path, [codec.encode(content[at : at + frame_bytes]) for at in spans]))
    stored = b"".join(bytes(frame.stored) for _, frames in encoded for frame in frames)
    builder = PlacementBuilder()
    key = pack_key(digest_of(stored))
    pack = builder.pack(Pack(key, len(stored))) if stored else 0
    offset = 0
    for path, frames in encoded:
        slices = []
        for data, kind, raw, digest, _ in frames:
            at = builder.frame(Frame(pack, offset, len(data), raw, kind, digest))
            slices.append(Slice(at, 0, raw))
            offset += len(data)
        builder.file(entry(path, contents[path]), slices)
    return builder.build(), {key: stored} if stored else {}


def record(name: str = "alpaca", version: str = "v1", **changes: object) -> VersionRecord:
    """A version record that is in order."""
    digest = digest_of(b"placement").hex
    facts: dict[str, object] = {
        "tree": TREE,
        "placement": PlacementKey(f"placements/{digest[:2]}/{digest}", 100, 200),
        "parent": None,
        "time": "2026-11-30T22:00:00Z",
        "author": "somebody",
        "message": "labels fixed",
        "files": 1,
        "bytes_raw": 10,
        "bytes_new": 10,
        "provenance": {"source": "alpaca"},
    }
    return VersionRecord(name=name, version=version, **(facts | changes))  # type: ignore[arg-type]


digests = st.binary(min_size=32, max_size=32).map(Digest)

segments = st.text(
    st.characters(exclude_characters="/\\\0", exclude_categories=["Cs"]), min_size=1, max_size=12
).filter(lambda text: text not in (".", ".."))
safe_paths = st.lists(segments, min_size=1, max_size=4).map("/".join)


@st.composite
def contents(draw: st.DrawFn) -> dict[str, bytes]:
    """Some files by path, none of which is also a folder."""
    names = draw(st.lists(safe_paths, max_size=6, unique=True))
    folders = {name[:at] for name in names for at, char in enumerate(name) if char == "/"}
    return {name: draw(st.binary(max_size=300)) for name in names if name not in folders}
