"""A local directory as an object store.

Objects are files. A write goes to a temporary name in the target folder, is flushed to the
disk and renamed (or linked, for create-only: link(2) fails when the name exists, which is
the atomic test). The ETag is made of mtime, size and inode.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from stager.errors import (
    AccessDenied,
    DiskFull,
    ObjectNotFound,
    ObjectUnaddressable,
    PreconditionFailed,
    StagerError,
    StorageError,
)
from stager.storage.store import (
    Capabilities,
    Data,
    ObjectInfo,
    check_key,
    check_range,
    too_large,
)

TEMPORARY = ".stager-tmp-"

_MISSING = (FileNotFoundError, NotADirectoryError)


class LocalStore:
    """ObjectStore over a folder, which is created by the first write."""

    capabilities = Capabilities()

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self.url = f"file://{self.root}"

    def get(self, key: str, start: int = 0, end: int | None = None, if_match: str = "") -> Data:
        """See ObjectStore.get."""
        check_range(self.url, key, start, end)
        with self._translated(key), open(self._path(key), "rb", 0, opener=_opener) as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise ObjectNotFound(url=self._at(key))
            if if_match and _etag(facts) != if_match:
                raise PreconditionFailed(url=self._at(key))
            stop = facts.st_size if end is None else end
            if start > stop:
                raise StorageError(url=self._at(key), reason=f"ends at byte {stop}")
            data = bytearray(stop - start)
            _read_exactly(file.fileno(), data, start, self._at(key))
            if if_match and _etag(os.fstat(file.fileno())) != if_match:
                raise PreconditionFailed(url=self._at(key))
        return data

    def read(self, key: str, most: int) -> Data:
        """See ObjectStore.read."""
        size = self.head(key).size
        if size > most:
            raise too_large(self._at(key), size, most)
        return self.get(key)

    def head(self, key: str) -> ObjectInfo:
        """See ObjectStore.head."""
        with self._translated(key):
            facts = os.stat(self._path(key))
            if not stat.S_ISREG(facts.st_mode):
                raise ObjectNotFound(url=self._at(key))
            return ObjectInfo(key, facts.st_size, _etag(facts), facts.st_mtime)

    def put(self, key: str, data: Data) -> str:
        """See ObjectStore.put."""
        return self._write(key, [data], os.replace)

    def create(self, key: str, data: Data) -> str:
        """See ObjectStore.create."""
        return self._write(key, [data], _link)

    def put_stream(self, key: str, parts: Iterable[Data]) -> str:
        """See ObjectStore.put_stream."""
        return self._write(key, parts, os.replace)

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """See ObjectStore.list."""
        folder = prefix.rpartition("/")[0]
        with self._translated(prefix):
            for key, facts in _walk(self._folder(folder), f"{folder}/" if folder else ""):
                if key.startswith(prefix) and not _is_temporary(key):
                    yield ObjectInfo(key, facts.st_size, _etag(facts), facts.st_mtime)

    def unfinished(self) -> Iterator[ObjectInfo]:
        """See ObjectStore.unfinished: temporary files, those of running writers among them."""
        with self._translated(""):
            for key, facts in _walk(self.root, ""):
                if _is_temporary(key):
                    yield ObjectInfo(key, facts.st_size, _etag(facts), facts.st_mtime)

    def delete(self, keys: Iterable[str]) -> None:
        """See ObjectStore.delete."""
        for key in keys:
            with self._translated(key), contextlib.suppress(*_MISSING):
                os.unlink(self._path(key))

    def _at(self, key: str) -> str:
        return f"{self.url}/{key}"

    def _path(self, key: str) -> Path:
        check_key(self.url, key)
        return self.root / key

    def _folder(self, key: str) -> Path:
        return self._path(key) if key else self.root

    def _write(self, key: str, parts: Iterable[Data], publish: Callable[[Path, Path], None]) -> str:
        target = self._path(key)
        with self._translated(key), self._no_clash(key):
            _make_folder(target.parent)
            temporary = target.parent / f"{TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}"
            try:
                with open(temporary, "xb", buffering=0) as file:
                    for part in parts:
                        _write_all(file.fileno(), part)
                    os.fsync(file.fileno())
                    etag = _etag(os.fstat(file.fileno()))
                publish(temporary, target)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary)
            _flush_folder(target.parent)
        return etag

    @contextlib.contextmanager
    def _no_clash(self, key: str) -> Iterator[None]:
        """A folder cannot be an object, nor hold objects below an object."""
        try:
            yield
        except (IsADirectoryError, NotADirectoryError) as problem:
            reason = "a file is in the place of a folder, or a folder in that of the file"
            raise ObjectUnaddressable(url=self._at(key), reason=reason) from problem

    @contextlib.contextmanager
    def _translated(self, key: str) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise _translate(problem, self._at(key)) from problem


def _translate(problem: OSError, url: str) -> StagerError:
    match problem.errno:
        case errno.ENOENT | errno.ENOTDIR | errno.EISDIR:
            return ObjectNotFound(url=url)
        case errno.EEXIST:
            return PreconditionFailed(url=url)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return AccessDenied(url=url, reason=problem.strerror)
        case errno.ENOSPC | errno.EDQUOT:
            return DiskFull(path=url, needed="more space", free="none")
    return StorageError(url=url, reason=str(problem))


def _opener(path: str, flags: int) -> int:
    """Does not wait for the other end of a pipe."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _etag(facts: os.stat_result) -> str:
    return f"{facts.st_mtime_ns:x}-{facts.st_size:x}-{facts.st_ino:x}"


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as problem:  # a file: not the "exists" of a create-only write
        raise NotADirectoryError(*problem.args) from problem


def _link(temporary: Path, target: Path) -> None:
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder", str(target))
    os.link(temporary, target)


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_exactly(descriptor: int, data: bytearray, start: int, url: str) -> None:
    view = memoryview(data)
    done = 0
    while done < len(view):
        count = os.preadv(descriptor, [view[done:]], start + done)
        if count == 0:
            raise StorageError(url=url, reason=f"ends at byte {start + done}, inside the range")
        done += count


def _write_all(descriptor: int, data: Data) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
    """Regular files below `folder` in byte order of their keys: a folder sorts as `name/`."""
    try:
        with os.scandir(folder) as found:
            entries = list(found)
    except _MISSING:
        return
    named = [(entry.name + "/" * entry.is_dir(follow_symlinks=False), entry) for entry in entries]
    for name, entry in sorted(named, key=lambda item: os.fsencode(item[0])):
        if name.endswith("/"):
            yield from _walk(folder / entry.name, prefix + name)
        else:
            try:
                facts = entry.stat()
            except OSError as problem:
                if problem.errno in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR):
                    continue  # gone meanwhile, or a link to nothing or to itself
                raise  # an object that cannot be looked at must not be taken for none
            if stat.S_ISREG(facts.st_mode):
                yield prefix + name, facts


def _is_temporary(key: str) -> bool:
    return key.rpartition("/")[2].startswith(TEMPORARY)
