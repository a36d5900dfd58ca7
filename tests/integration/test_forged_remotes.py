"""Remotes whose documents fit their digests and still lie: one typed error, nothing outside.

T61: whoever may write to a bucket can make a version that every digest agrees with. Paths that
leave the folder, spans outside of their objects, sizes that cannot be, frames that unfold.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from stager.errors import tree
from stager.model import columns, placement, version
from stager.model.digest import digest_of
from stager.model.layout import placement_key
from stager.model.version import PlacementKey
from tests.support import corpus
from tests.support.command import Stager
from tests.support.processes import peak_of

CODES = frozenset(kind.exit_code for kind in tree()) - {1}
READS = (("pull", "data@v1"), ("verify", "data@v1", "--in-remote"), ("ls", "data@v1"))
MOST_MEGABYTES = 600  # of a process that was told of terabytes

Table = dict[str, Any]


def _path(text: str) -> Callable[[Table], None]:
    def forge(table: Table) -> None:
        table["file_path"] = sorted([text, *table["file_path"][1:]])

    return forge


def _number(column: str, value: int) -> Callable[[Table], None]:
    def forge(table: Table) -> None:
        table[column] = array(table[column].typecode, [value, *table[column][1:]])

    return forge


def _twice(table: Table) -> None:
    table["file_path"] = [table["file_path"][0]] * len(table["file_path"])


def _unfolding(table: Table) -> None:
    """Four thousand million bytes of a frame that is small."""
    _number("frame_raw", 2**32 - 1)(table)
    _number("file_size", 2**63)(table)


FORGED: dict[str, Callable[[Table], None]] = {
    "parent": _path("../outside"),
    "parent inside": _path("a/../../outside"),
    "absolute": _path("/tmp/outside"),
    "nul in the middle": _path("a\0b"),
    "dot": _path("."),
    "long": _path("a/" * 200 + "a"),
    "twice": _twice,
    "frame past its pack": _number("frame_offset", 2**62),
    "pack that is not there": _number("frame_pack", 999),
    "slice past its frame": _number("slice_offset", 2**31),
    "slice of another frame": _number("slice_frame", 2**31),
    "empty slice": _number("slice_length", 0),
    "size that cannot be": _number("file_size", 2**63),
    "frame that unfolds": _unfolding,
    "codec nobody knows": _number("frame_codec", 9),
    "slices of nobody": _number("file_slices", 9_999),
}


@pytest.fixture
def pushed(local: Stager, tmp_path: Path) -> Stager:
    """`data@v1`: records and some files."""
    (tmp_path / "source").mkdir()
    corpus.jsonl(tmp_path / "source/train.jsonl", 300_000, seed=1)
    corpus.small_files(tmp_path / "source/images", 3, 300, 2000, seed=2)
    local.ok("push", tmp_path / "source", "data")
    return local


def refused(stager: Stager, folder: Path, reads: tuple[tuple[str, ...], ...] = READS) -> set[int]:
    """The exit codes, when nothing appears beside the cache and nothing is called done."""
    before = _names(folder)
    codes = set()
    for arguments in reads:
        result = stager.run(*arguments)
        assert result.code in CODES, (arguments, result)
        assert "Traceback" not in result.stderr and len(result.stderr.splitlines()) < 8
        codes.add(result.code)
    assert _names(folder) == before
    assert stager.run("path", "data@v1").code == 40
    return codes


def _names(folder: Path) -> set[str]:
    return {
        os.path.join(parent, name)
        for parent, folders, names in os.walk(folder)
        for name in (*folders, *names)
        if not os.path.join(parent, name).startswith(str(folder / "cache"))
    }


def forge(stager: Stager, change: Callable[[Table], None]) -> None:
    """The placement with that change, under the digest that it has then, in the record."""
    remote = stager.remote_folder
    file = remote / "datasets/data/versions/v1.json"
    record = version.decode(file.read_bytes(), "it")
    stored = (remote / record.placement.key).read_bytes()
    raw = zstandard.ZstdDecompressor().decompress(stored)
    table = columns.decode(placement.KIND, raw, "it", placement.TYPES)
    change(table)
    types = placement.TYPES
    try:
        raw = columns.encode(placement.KIND, {name: (types[name], table[name]) for name in types})
    except ValueError:
        pytest.fail("could not be forged")
    packed = zstandard.ZstdCompressor().compress(raw)
    key = PlacementKey(placement_key(digest_of(raw)), len(packed), len(raw))
    (remote / key.key).parent.mkdir(parents=True, exist_ok=True)
    (remote / key.key).write_bytes(packed)
    document = json.loads(file.read_bytes())
    document["placement"] = {"key": key.key, "stored": key.stored, "raw": key.raw}
    rewrite(file, json.dumps(document).encode())


def rewrite(file: Path, data: bytes) -> None:
    """Another content for an object."""
    file.chmod(0o644)
    file.write_bytes(data)


@pytest.mark.parametrize("name", FORGED)
def test_T61_a_placement_that_fits_its_digest_and_lies(
    pushed: Stager, tmp_path: Path, name: str
) -> None:
    forge(pushed, FORGED[name])
    assert refused(pushed, tmp_path) == {22}


def test_a_placement_that_is_only_written_anew_is_taken(pushed: Stager) -> None:
    """Else the tests above would show nothing."""
    forge(pushed, lambda table: None)
    pushed.ok("pull", "data@v1")


def test_T61_a_pack_that_unfolds_takes_no_memory(pushed: Stager, tmp_path: Path) -> None:
    """A frame of 60 kB that says nothing of its size and is 2 GB."""
    squeeze = zstandard.ZstdCompressor(level=19, write_content_size=False).compressobj()
    bomb = b"".join(squeeze.compress(bytes(1_000_000)) for _ in range(2000)) + squeeze.flush()
    for pack in (pushed.remote_folder / "packs").glob("*/*"):
        rewrite(pack, (bomb * (pack.stat().st_size // len(bomb) + 1))[: pack.stat().st_size])
    process = pushed.start("pull", "data@v1")
    assert peak_of(process) < MOST_MEGABYTES * 1_000_000
    assert process.returncode == 21
    assert refused(pushed, tmp_path, READS[:2]) == {21}


@pytest.mark.parametrize(
    "data",
    [b"", b"null", b"{}", b"[" * 100_000, b"\xff" * 100, b'{"format": 99}', b" " * 20_000_000],
    ids=["empty", "null", "no keys", "nested", "no text", "newer", "20 MB"],
)
@pytest.mark.parametrize("key", ["stager.json", "datasets/data/versions/v1.json"])
def test_T61_a_document_that_is_none(pushed: Stager, tmp_path: Path, key: str, data: bytes) -> None:
    rewrite(pushed.remote_folder / key, data)
    reads = READS if "versions" in key else (("push", str(tmp_path / "source"), "other"),)
    assert refused(pushed, tmp_path, reads) <= CODES
