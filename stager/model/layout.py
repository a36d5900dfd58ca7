"""Keys below a remote (format 1).

stager.json                               format and what the store was found to honour
datasets/<name>/versions/<version>.json   version record, create-only
datasets/<name>/verified/<version>.json   digests found by the first pull of an
                                          unhashed version, create-only
datasets/<name>/removed/<version>.json    what a removed version was; its label is not given again
datasets/<name>/tags/<tag>/<seq>.json     create-only; the highest seq wins
placements/<aa>/<digest>                  never rewritten
packs/<aa>/<digest>                       never rewritten
records/<aa>/<digest of a pack>           index of the records in that pack, optional
plain/<name>/<tree>/<path>                files of a `--plain` version, as they are
"""

from __future__ import annotations

import re

from stager.model.digest import Digest

FORMAT_KEY = "stager.json"
PROBES = "probes/"
DATASETS = "datasets/"
PACKS = "packs/"
RECORDS = "records/"
PLACEMENTS = "placements/"

_VERSION_KEY = re.compile(r"datasets/(?P<name>.+)/versions/(?P<version>[^/]+)\.json")
_TAG_KEY = re.compile(
    r"datasets/(?P<name>.+)/tags/(?P<tag>[^/]+)/(?P<seq>[0-9]{10}|[1-9][0-9]{10,18})\.json"
)


def versions_prefix(name: str) -> str:
    """Below this lie the version records of a dataset."""
    return f"{DATASETS}{name}/versions/"


def version_key(name: str, version: str) -> str:
    """The record of a version."""
    return f"{versions_prefix(name)}{version}.json"


def verified_key(name: str, version: str) -> str:
    """The digests that the first pull of an unhashed version found."""
    return f"{DATASETS}{name}/verified/{version}.json"


def removed_prefix(name: str) -> str:
    """Below this lie the records of removed versions."""
    return f"{DATASETS}{name}/removed/"


def removed_key(name: str, version: str) -> str:
    """The record of a version that was removed."""
    return f"{removed_prefix(name)}{version}.json"


def tags_prefix(name: str, tag: str = "") -> str:
    """Below this lie the tags of a dataset, or the movements of one tag."""
    return f"{DATASETS}{name}/tags/{tag}/" if tag else f"{DATASETS}{name}/tags/"


def tag_key(name: str, tag: str, sequence: int) -> str:
    """One movement of a tag; padded, so that listing order is time order."""
    return f"{tags_prefix(name, tag)}{sequence:010d}.json"


def placement_key(digest: Digest) -> str:
    """The placement whose canonical bytes have this digest."""
    return f"{PLACEMENTS}{digest.hex[:2]}/{digest.hex}"


def pack_key(digest: Digest) -> str:
    """The pack whose stored bytes have this digest."""
    return f"{PACKS}{digest.hex[:2]}/{digest.hex}"


def records_key(pack: str) -> str:
    """The record index of the pack at this key."""
    return f"{RECORDS}{pack.removeprefix(PACKS)}"


def plain_key(name: str, tree: Digest, path: str) -> str:
    """A file of a plain version."""
    return f"plain/{name}/{tree.hex[:16]}/{path}"


def parse_version_key(key: str) -> tuple[str, str] | None:
    """(name, version) of a record's key, None for any other key."""
    match = _VERSION_KEY.fullmatch(key)
    return (match["name"], match["version"]) if match else None


def parse_tag_key(key: str) -> tuple[str, str, int] | None:
    """(name, tag, sequence) of a tag movement's key, None for any other key."""
    match = _TAG_KEY.fullmatch(key)
    return (match["name"], match["tag"], int(match["seq"])) if match else None
