"""Buckets in memory: objects, their versions, uploads in parts, and listings in byte order."""

from __future__ import annotations

import bisect
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.support.clouds import digests

LAST = "\U0010ffff"  # sorts behind whatever follows a prefix


class Taken(Exception):
    """The key exists already and may not be overwritten."""


class BadPart(Exception):
    """A completed upload names a part that is not there, is another, or is out of order."""

    def __init__(self, code: str, number: int) -> None:
        super().__init__(code)
        self.code = code
        self.number = number


@dataclass(frozen=True)
class Stored:
    """One version of an object."""

    data: bytes
    etag: str  # lower-case hex, no quotes
    crc64: int
    modified: float  # seconds since the epoch, whole
    headers: Mapping[str, str]  # content-type and its kin, and metadata as `meta-name`
    kind: str = "Normal"
    version: str = "null"


@dataclass(frozen=True)
class Part:
    """One part of an upload."""

    data: bytes
    etag: str
    modified: float


@dataclass
class Upload:
    """An upload in parts that is under way."""

    id: str
    key: str
    headers: Mapping[str, str]
    started: float
    parts: dict[int, Part] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """One page of a listing; `following` is what the next page starts after, if there is one."""

    objects: list[tuple[str, Stored]]
    prefixes: list[str]
    following: str | None


class Bucket:
    """One bucket; every method is atomic."""

    def __init__(
        self, name: str, region: str, *, versioning: bool = False, v1_allowed: bool = False
    ) -> None:
        self.name = name
        self.region = region
        self.versioning = versioning
        self.v1_allowed = v1_allowed
        self.uploads: dict[str, Upload] = {}
        self._objects: dict[str, Stored] = {}
        self._history: dict[str, list[Stored]] = {}
        self._keys: list[str] = []  # sorted; code points sort as their UTF-8 bytes do
        self._lock = threading.RLock()

    def __contains__(self, key: str) -> bool:
        return key in self._objects

    def get(self, key: str, version: str | None = None) -> Stored | None:
        """The object, or one of its versions."""
        with self._lock:
            if version is None:
                return self._objects.get(key)
            found = [each for each in self._history.get(key, ()) if each.version == version]
            return found[-1] if found else None

    def put(
        self, key: str, data: bytes, headers: Mapping[str, str], now: float, *, forbid: bool
    ) -> Stored:
        """Store an object; Taken when it exists and `forbid` says not to overwrite."""
        stored = Stored(data, digests.md5(data), digests.crc64(data), int(now), headers)
        return self._store(key, stored, forbid)

    def _store(self, key: str, stored: Stored, forbid: bool) -> Stored:
        with self._lock:
            if forbid and key in self._objects:
                raise Taken(key)
            if self.versioning:
                stored = Stored(**{**vars(stored), "version": f"V{secrets.token_hex(16)}"})
            if key not in self._objects:
                bisect.insort(self._keys, key)
            self._objects[key] = stored
            older = self._history.get(key, []) if self.versioning else []
            self._history[key] = [*older, stored]
            return stored

    def delete(self, key: str) -> bool:
        """Remove an object; whether there was one. Older versions stay readable by id."""
        with self._lock:
            if self._objects.pop(key, None) is None:
                return False
            del self._keys[bisect.bisect_left(self._keys, key)]
            if not self.versioning:
                self._history.pop(key, None)
            return True

    def page(self, prefix: str, delimiter: str, after: str, limit: int) -> Page:
        """Up to `limit` keys and common prefixes behind `after`, in byte order."""
        objects: list[tuple[str, Stored]] = []
        prefixes: list[str] = []
        last = after
        with self._lock:
            at = max(bisect.bisect_right(self._keys, after), bisect.bisect_left(self._keys, prefix))
            while at < len(self._keys) and self._keys[at].startswith(prefix):
                key = self._keys[at]
                group = _group(key, prefix, delimiter)
                if group is not None and group == after:
                    at = bisect.bisect_left(self._keys, group + LAST, at)
                    continue
                if len(objects) + len(prefixes) >= limit:
                    return Page(objects, prefixes, last)
                if group is None:
                    objects.append((key, self._objects[key]))
                    at, last = at + 1, key
                else:
                    prefixes.append(group)
                    at, last = bisect.bisect_left(self._keys, group + LAST, at), group
        return Page(objects, prefixes, None)

    def start(self, key: str, headers: Mapping[str, str], now: float, *, forbid: bool) -> Upload:
        """Begin an upload in parts; Taken as for put."""
        with self._lock:
            if forbid and key in self._objects:
                raise Taken(key)
            upload = Upload(secrets.token_hex(16).upper(), key, headers, now)
            self.uploads[upload.id] = upload
            return upload

    def complete(
        self, upload: Upload, chosen: Sequence[tuple[int, str]], now: float, *, forbid: bool
    ) -> Stored:
        """Make the object out of the chosen parts (number, ETag); BadPart or Taken otherwise."""
        with self._lock:
            parts = [_chosen(upload, number, etag) for number, etag in chosen]
            numbers = [number for number, _ in chosen]
            if not numbers or sorted(set(numbers)) != numbers:
                raise BadPart("InvalidPartOrder" if numbers else "MalformedXML", 0)
            data = b"".join(part.data for part in parts)
            stored = Stored(
                data,
                digests.of_parts([part.etag for part in parts]),
                digests.crc64(data),
                int(now),
                upload.headers,
                kind="Multipart",
            )
            stored = self._store(upload.key, stored, forbid)
            self.uploads.pop(upload.id, None)
            return stored


def _group(key: str, prefix: str, delimiter: str) -> str | None:
    if not delimiter:
        return None
    end = key.find(delimiter, len(prefix))
    return None if end < 0 else key[: end + len(delimiter)]


def _chosen(upload: Upload, number: int, etag: str) -> Part:
    part = upload.parts.get(number)
    if part is None or part.etag != etag.strip('"').lower():
        raise BadPart("InvalidPart", number)
    return part
