"""A store in which time can be made to pass."""

from __future__ import annotations

from collections.abc import Iterator

from stager.storage.resilient import Wrapper
from stager.storage.store import Data, ObjectInfo, ObjectStore


class Aged(Wrapper):
    """Objects are as old as `age` says, in seconds, until they are written again."""

    def __init__(self, inner: ObjectStore) -> None:
        super().__init__(inner)
        self.ages: dict[str, float] = {}

    def age(self, seconds: float, *keys: str) -> None:
        """Makes these objects older; without keys all that there are."""
        for key in keys or [info.key for info in self.inner.list()]:
            self.ages[key] = self.ages.get(key, 0.0) + seconds

    def head(self, key: str) -> ObjectInfo:
        """As old as it was made."""
        return self._aged(self.inner.head(key))

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """As old as they were made."""
        return map(self._aged, self.inner.list(prefix))

    def put(self, key: str, data: Data) -> str:
        """Young again."""
        self.ages.pop(key, None)
        return self.inner.put(key, data)

    def create(self, key: str, data: Data) -> str:
        """Young."""
        etag = self.inner.create(key, data)
        self.ages.pop(key, None)
        return etag

    def _aged(self, info: ObjectInfo) -> ObjectInfo:
        return info._replace(modified=info.modified - self.ages.get(info.key, 0.0))
