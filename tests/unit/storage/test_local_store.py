"""storage/local_store.py: what a directory does beyond the contract of every store."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stager.errors import (
    AccessDenied,
    DiskFull,
    ObjectNotFound,
    ObjectUnaddressable,
    PreconditionFailed,
    StorageError,
)
from stager.storage import local_store
from stager.storage.local_store import LocalStore


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    """A store over a folder that does not exist yet."""
    return LocalStore(tmp_path / "remote")


def test_the_folder_is_made_by_the_first_write(store: LocalStore) -> None:
    assert list(store.list()) == []
    assert not store.root.exists()
    store.put("a/b", b"x")
    assert (store.root / "a" / "b").read_bytes() == b"x"


@pytest.mark.parametrize("key", ["../a", "a/../../b", "/etc/passwd", "a//b", "./a", "a/", ".."])
def test_T26_no_key_leaves_the_folder(store: LocalStore, key: str) -> None:
    store.put("a", b"x")
    for call in (
        lambda: store.get(key),
        lambda: store.head(key),
        lambda: store.put(key, b"x"),
        lambda: store.create(key, b"x"),
        lambda: store.put_stream(key, [b"x"]),
        lambda: store.delete([key]),
        lambda: list(store.list(key + "/x")),
    ):
        with pytest.raises(ObjectUnaddressable):
            call()
    assert sorted(path.name for path in store.root.parent.rglob("*")) == ["a", "remote"]


def test_nothing_temporary_stays_or_is_listed(store: LocalStore) -> None:
    def broken() -> Iterator[bytes]:
        yield b"half"
        assert [path.name[:12] for path in store.root.iterdir()] == [local_store.TEMPORARY]
        assert list(store.list()) == []
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.put_stream("a", broken())
    assert list(store.root.iterdir()) == []


def test_T50_a_refused_create_leaves_nothing(store: LocalStore) -> None:
    store.create("a", b"1")
    with pytest.raises(PreconditionFailed):
        store.create("a", b"2")
    assert [path.name for path in store.root.iterdir()] == ["a"]


def test_a_replaced_object_has_another_etag_though_size_and_time_agree(store: LocalStore) -> None:
    first = store.put("a", b"one")
    facts = os.stat(store.root / "a")
    second = store.put("a", b"two")
    os.utime(store.root / "a", ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert len({first, second, store.head("a").etag}) == 3


def test_T19_an_object_where_a_folder_must_be_is_said_plainly(store: LocalStore) -> None:
    """Neither `no such object` nor `exists already` is true of a key that cannot be written."""
    store.put("a", b"x")
    store.put("folder/b", b"x")
    for key in ("a/below", "folder"):
        for write in (store.put, store.create):
            with pytest.raises(StorageError) as caught:
                write(key, b"y")
            assert not isinstance(caught.value, (ObjectNotFound, PreconditionFailed))


def test_T21_a_listing_survives_what_is_no_object(store: LocalStore) -> None:
    store.put("a/b", b"x")
    os.symlink("nowhere", store.root / "dangling")
    os.symlink(".", store.root / "loop")
    os.mkfifo(store.root / "pipe")
    assert "a/b" in [info.key for info in store.list()]
    assert "pipe" not in [info.key for info in store.list()]


def test_a_pipe_is_no_object_and_is_not_waited_for(store: LocalStore) -> None:
    store.put("a", b"x")
    os.mkfifo(store.root / "pipe")
    opener = os.open(store.root / "pipe", os.O_RDWR)  # else a wrong get would wait for ever
    try:
        with pytest.raises(ObjectNotFound):
            store.head("pipe")
        with pytest.raises(ObjectNotFound):
            store.get("pipe")
    finally:
        os.close(opener)


def test_a_listing_of_an_impossible_prefix_is_of_the_storage_kind(store: LocalStore) -> None:
    store.put("a", b"x")
    with contextlib.suppress(StorageError):
        assert list(store.list("x" * 300 + "/")) == []


def test_a_tree_as_deep_as_a_key_can_say_is_listed(store: LocalStore) -> None:
    key = "d/" * 500 + "f"
    store.put("top", b"x")
    deep = os.open(store.root, os.O_RDONLY)
    for _ in range(500):
        os.mkdir("d", dir_fd=deep)
        below = os.open("d", os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = below
    os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=deep))
    os.close(deep)
    assert [info.key for info in store.list()] == [key, "top"]


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOENT, ObjectNotFound),
        (errno.ENOTDIR, ObjectNotFound),
        (errno.EEXIST, PreconditionFailed),
        (errno.EACCES, AccessDenied),
        (errno.EROFS, AccessDenied),
        (errno.ENOSPC, DiskFull),
        (errno.EIO, StorageError),
    ],
)
def test_T16_a_failure_of_the_disk_becomes_the_class_it_is(number: int, kind: type) -> None:
    assert type(local_store._translate(OSError(number, "by hand"), "file:///a")) is kind


def test_the_root_of_the_disk_is_named_as_one() -> None:
    assert LocalStore(Path("/")).url == "file:///"


def test_what_killed_writers_left_can_be_found_looked_at_and_deleted(store: LocalStore) -> None:
    left = f"packs/aa/{local_store.TEMPORARY}7-00ff"
    store.put("packs/aa/b", b"x")
    store.put(left, b"half")
    assert [info.key for info in store.list("packs/")] == ["packs/aa/b"]
    (found,) = store.unfinished()
    assert found == store.head(left)
    store.delete([found.key])
    assert list(store.unfinished()) == []


def test_an_object_that_cannot_be_looked_at_is_not_left_out(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever deletes what no listed version refers to must not get half a listing."""
    store.put("a/b", b"x")
    real = os.scandir

    class Refused:
        """An entry whose stat fails as in a folder that may be read and not searched."""

        def __init__(self, entry: os.DirEntry[str]) -> None:
            self.name = entry.name
            self._entry = entry

        def is_dir(self, follow_symlinks: bool = True) -> bool:
            return self._entry.is_dir(follow_symlinks=follow_symlinks)

        def stat(self) -> os.stat_result:
            raise PermissionError(errno.EACCES, "by hand")

    @contextlib.contextmanager
    def scandir(folder: Path) -> Iterator[list[Refused]]:
        with real(folder) as entries:
            yield [Refused(entry) for entry in entries]

    monkeypatch.setattr(local_store.os, "scandir", scandir)
    with pytest.raises(AccessDenied):
        list(store.list())
