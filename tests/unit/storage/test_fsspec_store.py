"""storage/fsspec_store.py: any filesystem as a store."""

from __future__ import annotations

from pathlib import Path

import pytest
from fsspec.implementations.local import LocalFileSystem

from stager.errors import AccessDenied
from stager.storage.fsspec_open import open_fsspec
from stager.storage.options import StorageOptions

OPTIONS = StorageOptions(transport="fsspec")


def test_a_store_lies_below_its_url() -> None:
    store = open_fsspec("memory://one/two", OPTIONS, None)
    store.put("a/b", b"x")
    assert bytes(open_fsspec("memory://one", OPTIONS, None).get("two/a/b")) == b"x"
    assert [info.key for info in store.list()] == ["a/b"]


def test_any_filesystem_will_do(tmp_path: Path) -> None:
    store = open_fsspec(f"file://{tmp_path}/remote", OPTIONS, None)
    store.put("a/b", b"xyz")
    assert bytes(store.get("a/b", 1, 2)) == b"y"
    assert [info.key for info in store.list()] == ["a/b"]
    store.delete(["a/b", "nothing"])
    assert list(store.list()) == []


def test_a_broken_stream_leaves_no_file(tmp_path: Path) -> None:
    def parts() -> object:
        yield b"half"
        raise RuntimeError("the source broke")

    store = open_fsspec(f"file://{tmp_path}/remote", OPTIONS, None)
    with pytest.raises(RuntimeError):
        store.put_stream("a", parts())  # type: ignore[arg-type]
    assert list(store.list()) == []


def test_T61_a_folder_that_cannot_be_listed_is_not_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """fsspec's walk leaves it out; a gc would then delete what its versions hold."""
    store = open_fsspec(f"file://{tmp_path}/remote", OPTIONS, None)
    for key in ("a/b", "c/d"):
        store.put(key, b"x")
    real = LocalFileSystem.ls

    def denied(self: LocalFileSystem, path: str, **options: object) -> object:
        if path.endswith("/c"):
            raise PermissionError(path)
        return real(self, path, **options)

    monkeypatch.setattr(LocalFileSystem, "ls", denied)
    with pytest.raises(AccessDenied):
        list(store.list())
    assert [info.key for info in store.list("a/")] == ["a/b"]
