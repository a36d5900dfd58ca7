"""Keys below a remote (format 1).

stager.json                               format and what the store was found to honour
datasets/<name>/versions/<version>.json   version record, create-only
datasets/<name>/verified/<version>.json   digests found by the first pull of an
                                          unhashed version, create-only
datasets/<name>/removed/<version>.json    what a removed version was; its label is not given again
datasets/<name>/removed/<version>.verified  the digests found for it, where there were any
datasets/<name>/tags/<tag>/<seq>.json     create-only; the highest seq wins
placements/<aa>/<digest>                  never rewritten
packs/<aa>/<digest>                       never rewritten
records/<aa>/<digest of a pack>           index of the records in that pack, optional
plain/<name>/<tree>/<path>                files of a `--plain` version, as they are
"""

from __future__ import annotations

import re
from typing import NamedTuple

from stager.model.digest import Digest

FORMAT_KEY = "stager.json"
PROBES = "probes/"
DATASETS = "datasets/"
PACKS = "packs/"
RECORDS = "records/"
PLACEMENTS = "placements/"
PLAIN = "plain/"

# A push takes an object that it finds in its place for granted only while it is younger than
# this; `gc` spares what is younger than twice as much. Seconds, by the store's clock.
FRESH_SECONDS = 3600

# What stager writes and nothing else, by kind: only such keys are ever counted or deleted.
CONTENT = {
    "indexes": re.compile(r"records/([0-9a-f]{2})/\1[0-9a-f]{62}"),
    "packs": re.compile(r"packs/([0-9a-f]{2})/\1[0-9a-f]{62}"),
    "placements": re.compile(r"placements/([0-9a-f]{2})/\1[0-9a-f]{62}"),
    "plain": re.compile(r"plain/(?:[a-z0-9][a-z0-9._-]{0,99}/){1,4}[0-9a-f]{16}/.+", re.DOTALL),
    "probes": re.compile(r"probes/[0-9a-f]{16}"),
}
PREFIXES = {
    "indexes": RECORDS,
    "packs": PACKS,
    "placements": PLACEMENTS,
    "plain": PLAIN,
    "probes": PROBES,
}

_TAG_KEY = re.compile(
    r"datasets/(?P<name>.+)/tags/(?P<tag>[^/]+)/(?P<seq>[0-9]{10}|[1-9][0-9]{10,18})\.json"
)
_RECORD_KEY = re.compile(
    r"datasets/(?P<name>.+)/(?:(?P<folder>versions|verified|removed)/(?P<version>[^/]+)\.json"
    r"|removed/(?P<buried>[^/]+)\.verified)"
)


class RecordKey(NamedTuple):
    """Which record lies at a key; `role` is versions, verified, removed or buried.

    `buried` is the verified companion of a removed version.
    """

    role: str
    name: str
    version: str


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


def buried_key(name: str, version: str) -> str:
    """The digests found for a version that was removed since."""
    return f"{removed_prefix(name)}{version}.verified"


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
    return f"{plain_folder(name, tree)}{path}"


def plain_folder(name: str, tree: Digest) -> str:
    """Below this lie the files of a plain version."""
    return f"{PLAIN}{name}/{tree.hex[:16]}/"


def is_content(kind: str, key: str) -> bool:
    """Whether stager itself writes keys of this shape; see CONTENT."""
    return CONTENT[kind].fullmatch(key) is not None


def parse_record_key(key: str) -> RecordKey | None:
    """Which record of a version lies at this key, None for any other key."""
    match = _RECORD_KEY.fullmatch(key)
    if match is None:
        return None
    if match["buried"]:
        return RecordKey("buried", match["name"], match["buried"])
    return RecordKey(match["folder"], match["name"], match["version"])


def parse_version_key(key: str) -> tuple[str, str] | None:
    """(name, version) of a version's record, None for any other key."""
    found = parse_record_key(key)
    return (found.name, found.version) if found and found.role == "versions" else None


def parse_tag_key(key: str) -> tuple[str, str, int] | None:
    """(name, tag, sequence) of a tag movement's key, None for any other key."""
    match = _TAG_KEY.fullmatch(key)
    return (match["name"], match["tag"], int(match["seq"])) if match else None
