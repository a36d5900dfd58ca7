"""storage/fsspec_store.py: any filesystem as a store."""

from __future__ import annotations

from pathlib import Path

import pytest

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
