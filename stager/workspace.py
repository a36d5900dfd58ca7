"""What every verb works with: settings, the remote, the cache, and who listens."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from stager.cache.folders import Folders
from stager.config import Config
from stager.errors import UsageError
from stager.events import Listener, both, ignore
from stager.storage.connect import connect, normalised, split
from stager.storage.store import ObjectStore
from stager.transfer.meter import Meter


@dataclass(slots=True)
class Workspace:
    """Settings in, stores out; one per call of a verb, so that its meter counts that verb."""

    config: Config
    listener: Listener = ignore
    meter: Meter = field(default_factory=Meter)
    _stores: dict[str, ObjectStore] = field(default_factory=dict)

    @property
    def folders(self) -> Folders:
        """The cache."""
        return Folders(self.config.cache.path)

    @property
    def remote_url(self) -> str:
        """The remote's URL, normalised; ConfigError when none is set."""
        return normalised(self.config.required_remote())

    @property
    def remote(self) -> ObjectStore:
        """The remote, connected at first use."""
        return self.store(self.remote_url)

    def store(self, url: str) -> ObjectStore:
        """The store at a normalised URL, connected once."""
        if url not in self._stores:
            listener = both(self.meter, self.listener)
            self._stores[url] = connect(url, self.config.storage, listener)
        return self._stores[url]

    def locate(self, key: str) -> tuple[ObjectStore, str]:
        """Where a pack lies: below the remote, or at an absolute URL of the same scheme.

        A placement from a bucket must not make this node read from elsewhere, its own
        disk for one: UsageError for another scheme than the remote's.
        """
        if "://" not in key:
            return self.remote, key
        if key.partition("://")[0] != self.remote_url.partition("://")[0]:
            raise UsageError(reason=f"{key}: lies on another kind of store than the remote")
        root, below = split(key)
        return self.store(root), below


def utc_now() -> str:
    """`2026-11-30T22:00:00Z`; SOURCE_DATE_EPOCH is not consulted: a record says when it was."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
