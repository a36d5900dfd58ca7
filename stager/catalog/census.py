"""All records of a remote in one listing: versions, their companions, removals and tags."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from stager.model import layout
from stager.storage.store import ObjectInfo, ObjectStore

Version = tuple[str, str]  # name and label


class Holder(NamedTuple):
    """A record that refers to content; `live` when it is that of a version that exists."""

    key: str
    name: str
    version: str
    live: bool


@dataclass(slots=True)
class Census:
    """The records by role and version, and the newest movement of every tag."""

    versions: dict[Version, ObjectInfo] = field(default_factory=dict)
    verified: dict[Version, ObjectInfo] = field(default_factory=dict)
    removed: dict[Version, ObjectInfo] = field(default_factory=dict)
    buried: dict[Version, ObjectInfo] = field(default_factory=dict)
    tags: dict[tuple[str, str], int] = field(default_factory=dict)

    def holders(self, since: float, tagged: Collection[Version]) -> Iterator[Holder]:
        """Whose content must stay: versions, and what was removed after `since` or is tagged."""
        for role in (self.versions, self.verified, self.removed, self.buried):
            for version, info in role.items():
                live = version in self.versions
                if live and role in (self.removed, self.buried):
                    continue  # a removal that was not finished: the version is there
                if live or version in tagged or self._removal(version, info) > since:
                    yield Holder(info.key, *version, live)

    def orphans(self, since: float, tagged: Collection[Version]) -> Iterator[ObjectInfo]:
        """Companions of versions that are gone, for longer than since `since`."""
        for role in (self.verified, self.buried):
            for version, info in role.items():
                gone = version not in self.versions and version not in tagged
                if gone and self._removal(version, info) <= since:
                    yield info

    def _removal(self, version: Version, info: ObjectInfo) -> float:
        """When the version went: a companion counts from the removal too."""
        removal = self.removed.get(version)
        return max(info.modified, removal.modified if removal else 0.0)


def take(store: ObjectStore) -> Census:
    """One listing of everything below `datasets/`; keys that are no record are passed over."""
    census = Census()
    roles = {role: getattr(census, role) for role in ("versions", "verified", "removed", "buried")}
    for info in store.list(layout.DATASETS):
        if record := layout.parse_record_key(info.key):
            roles[record.role][record.name, record.version] = info
        elif movement := layout.parse_tag_key(info.key):
            name, tag, sequence = movement
            census.tags[name, tag] = max(census.tags.get((name, tag), 0), sequence)
    return census
