"""The parsers of what comes from outside, each with inputs that it takes.

A target gives the bytes to its parser and uses what comes back. Refusing is raising a
StagerError; everything else that is raised is a fault. Documents that carry their digest are
wrapped so that the digest fits the changed bytes: else nothing would get past the digest.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import zstandard

from stager.catalog import placements, tags
from stager.catalog.tags import TagMovement
from stager.errors import StagerError
from stager.foreign import dvc_config, dvc_outputs, git, git_lfs
from stager.foreign.trees import FolderTree
from stager.model import (
    columns,
    durations,
    holdings,
    layout,
    names,
    placement,
    receipt,
    record_index,
    sizes,
    version,
)
from stager.model.digest import Digest, digest_of
from stager.model.placement import RAW, ZSTD, Frame
from stager.model.receipt import Receipt, Signature
from stager.model.records import Units
from stager.packs import codec
from stager.storage import address
from stager.storage.credentials import files
from stager.storage.obstore_store import open_memory
from stager.storage.options import StorageOptions
from tests.unit.examples import TREE, placed, record

Parser = Callable[[bytes], object]
# Documented so: whoever asks makes of it one error that names file and key.
VALUE: tuple[type[Exception], ...] = (StagerError, ValueError)


class Target(NamedTuple):
    """A parser, and inputs that it takes."""

    name: str
    seeds: list[bytes]
    parse: Parser
    refuses: tuple[type[Exception], ...] = (StagerError,)


def targets(folder: Path) -> list[Target]:
    """All of them; those that read a file read one in the folder."""
    return [*_documents(), *_compressed(), *_texts(), *_foreign(), *_files(folder)]


PLACEMENTS = [
    placed({"a": b"x" * 300, "b/c": random.Random(1).randbytes(200), "empty": b""})[0].encode(),
    placed({f"{number}/data": b"%d" % number * 40 for number in range(9)})[0].encode(),
]
RECORDS = [record().encode(), record(version="cleaned", parent="v1", provenance={}).encode()]


def _documents() -> list[Target]:
    units = Units(columns.integers("u64", [1, 2]), columns.integers("u32", [9, 9]))
    indexes = [record_index.encode([(0, units), (90, units)])]
    plain = columns.encode(
        "any", {"a": ("u64", columns.integers("u64", [1, 2])), "b": ("str", ["x", "y"])}
    )
    return [
        Target("placement", PLACEMENTS, lambda data: placement.decode(data, "it").encode()),
        Target("holdings", PLACEMENTS, lambda data: list(holdings.decode(data, "it").spans())),
        Target("columns", [plain], lambda data: columns.decode("any", data, "it")),
        Target("record index", indexes, lambda data: list(record_index.decode(data, "it"))),
        Target("version record", RECORDS, lambda data: version.decode(data, "it").encode()),
        Target("receipt", [_receipt()], lambda data: receipt.decode(data, "it").encode()),
        Target("tag", [_tag()], _read_tag),
    ]


def _compressed() -> list[Target]:
    squeeze = zstandard.ZstdCompressor().compress
    return [
        Target("stored placement", [squeeze(PLACEMENTS[0])], _unpack),
        Target("placement in a digest", PLACEMENTS, lambda data: _unpack(squeeze(data), data)),
        Target("frame", [squeeze(bytes(500)), bytes(500)], _frame),
    ]


def _texts() -> list[Target]:
    keys = [layout.version_key("a", "v1"), layout.tag_key("a", "b", 1), f"x/{TREE[7:]}"]
    urls = ["s3://bucket/a", "oss://bucket.oss-cn-hangzhou.aliyuncs.com/a", "cos://b-1250000000/x"]
    return [
        Target("reference", _bytes("data@v3", "a/b@best", "x"), _as_text(names.parse_reference)),
        Target("digest", _bytes(TREE), _as_text(Digest.parse), VALUE),
        Target("size", _bytes("500GB", "1.5 MiB", "7"), _as_text(sizes.parse_size), VALUE),
        Target("duration", _bytes("36h", "2d", "0s"), _as_text(durations.parse_duration)),
        Target("key", _bytes(*keys), _as_text(_key)),
        Target("address", _bytes(*urls), _as_text(_locate)),
    ]


def _foreign() -> list[Target]:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{TREE[7:]}\nsize 9\n"
    settings = "[core]\n    remote = s\n['remote \"s\"']\n    url = s3://bucket/dvc\n"
    return [
        Target("dvc config", _bytes(settings), lambda data: dvc_config.parse("/r", data)),
        Target("lfs pointer", _bytes(pointer), git_lfs.parse_pointer, VALUE),
        Target("git address", _bytes("git@a.b:c.git", "."), _as_text(git.parse_address)),
    ]


def _files(folder: Path) -> list[Target]:
    path = folder / "settings"

    def reading(read: Callable[[Path, str], object]) -> Parser:
        def parse(data: bytes) -> object:
            path.write_bytes(data)
            return read(path, "it")

        return parse

    def outputs(data: bytes) -> object:
        (folder / "data.dvc").write_bytes(data)
        return dvc_outputs.checked(dvc_outputs.find(FolderTree(str(folder)), "data")[0])

    ini = "[default]\naws_access_key_id = a\naws_secret_access_key=b\n[profile x]\nregion = c\n"
    md5 = "d41d8cd98f00b204e9800998ecf8427e"
    pointer = f"outs:\n- md5: {md5}.dir\n  size: 10\n  nfiles: 2\n  path: data\n"
    profile = json.dumps({"current": "a", "profiles": [{"name": "a", "mode": "AK"}]})
    return [
        Target("dvc outputs", _bytes(pointer), outputs),
        Target("ini file", _bytes(ini), reading(files.ini)),
        Target("json file", _bytes(profile), reading(files.json_object)),
    ]


def _unpack(stored: bytes, raw: bytes | None = None) -> object:
    """A placement whose key is the digest of what is in it, whatever that is."""
    key = f"placements/00/{digest_of(raw if raw is not None else PLACEMENTS[0]).hex}"
    return placements.unpack(stored, key, None if raw is None else len(raw))


def _frame(data: bytes) -> object:
    kind = ZSTD if data[:4] == b"\x28\xb5\x2f\xfd" else RAW
    return codec.decode(
        memoryview(data), Frame(0, 0, len(data), 500, kind, digest_of(bytes(500)).raw), "packs/00"
    )


def _read_tag(data: bytes) -> object:
    store = open_memory("memory://tags")
    store.put(layout.tag_key("a", "prod", 1), data)
    return tags.read_movement(store, "a", "prod", 1)


def _tag() -> bytes:
    store = open_memory("memory://tags")
    tags.move(store, "a", "prod", TagMovement("v1", "2026-12-05T00:00:00Z", "somebody"))
    return bytes(store.get(layout.tag_key("a", "prod", 1)))


def _key(text: str) -> object:
    return layout.parse_version_key(text), layout.parse_tag_key(text), layout.parse_record_key(text)


def _locate(text: str) -> object:
    scheme, _, rest = text.partition("://")
    known = scheme if scheme in address.SCHEMES else "s3"
    return address.locate(f"{known}://{rest}", StorageOptions(region="r"))


def _receipt() -> bytes:
    signature = Signature(1, 10, 1, 2)
    here = ("s3://bucket/team", "2026-12-05T00:00:00Z", signature)
    return Receipt("alpaca", "v1", TREE, "placements/00/00", 1, 10, *here).encode()


def _bytes(*texts: str) -> list[bytes]:
    return [text.encode() for text in texts]


def _as_text(parse: Callable[[str], object]) -> Parser:
    return lambda data: parse(data.decode(errors="surrogateescape"))
