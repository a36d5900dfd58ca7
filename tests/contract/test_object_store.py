"""What storage/store.py promises, asked of every implementation and every wrapper."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stager.errors import ManifestInvalid, ObjectNotFound, PreconditionFailed, StorageError
from stager.storage.store import ObjectStore

DATA = bytes(range(256)) * 40
PART = 5 * 1024 * 1024


def keys(store: ObjectStore, prefix: str = "") -> list[str]:
    """Keys as they are listed."""
    return [info.key for info in store.list(prefix)]


@pytest.mark.parametrize(
    ("start", "end"),
    [(0, None), (0, 1), (0, len(DATA)), (7, 9), (300, 5000), (len(DATA) - 1, len(DATA)), (9, None)],
)
def test_a_range_is_exactly_those_bytes(store: ObjectStore, start: int, end: int | None) -> None:
    store.put("folder/object", DATA)
    assert bytes(store.get("folder/object", start, end)) == DATA[start:end]


@pytest.mark.parametrize(
    ("start", "end"), [(0, len(DATA) + 1), (len(DATA) - 1, len(DATA) + 1), (99_999, 100_000)]
)
def test_a_range_past_the_end_is_an_error_never_short(
    store: ObjectStore, start: int, end: int
) -> None:
    store.put("object", DATA)
    with pytest.raises(StorageError) as caught:
        store.get("object", start, end)
    assert not caught.value.transient


def test_a_start_past_the_end_is_an_error_too(store: ObjectStore) -> None:
    store.put("object", DATA)
    with pytest.raises(StorageError) as caught:
        store.get("object", len(DATA) + 1)
    assert not caught.value.transient


def test_an_empty_range_is_nothing_or_refused_but_never_tried_again(store: ObjectStore) -> None:
    store.put("object", DATA)
    try:
        assert bytes(store.get("object", 5, 5)) == b""
    except StorageError as problem:
        assert not problem.transient


def test_what_is_not_there_is_not_found(store: ObjectStore) -> None:
    store.put("object", DATA)
    for key in ("nothing", "no/folder/nothing", "obj", "object-2"):
        with pytest.raises(ObjectNotFound):
            store.get(key)
        with pytest.raises(ObjectNotFound):
            store.get(key, 0, 1)
        with pytest.raises(ObjectNotFound):
            store.head(key)


@pytest.mark.parametrize("most", [len(DATA), len(DATA) + 1])
def test_a_document_is_read_whole(store: ObjectStore, most: int) -> None:
    store.put("document", DATA)
    assert bytes(store.read("document", most)) == DATA


def test_T26_a_document_over_its_size_is_refused_by_name(store: ObjectStore) -> None:
    store.put("document", DATA)
    with pytest.raises(ManifestInvalid, match=rf"document: .*{len(DATA)} bytes; at most 100 "):
        store.read("document", 100)


def test_a_document_may_be_empty_or_not_there(store: ObjectStore) -> None:
    store.put("document", b"")
    assert bytes(store.read("document", 100)) == b""
    with pytest.raises(ObjectNotFound):
        store.read("nothing", 100)


def test_T19_a_folder_is_no_object(store: ObjectStore) -> None:
    store.put("folder/object", DATA)
    with pytest.raises(ObjectNotFound):
        store.get("folder")
    with pytest.raises(ObjectNotFound):
        store.head("folder")


def test_head_says_what_put_and_list_say(store: ObjectStore) -> None:
    etag = store.put("a/b", DATA)
    head = store.head("a/b")
    (listed,) = store.list()
    assert (head.key, head.size, head.etag) == ("a/b", len(DATA), etag)
    assert (listed.key, listed.size, listed.etag) == ("a/b", len(DATA), etag)
    assert etag
    assert '"' not in etag


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_put_takes_any_buffer_and_replaces_the_whole(store: ObjectStore, kind: type) -> None:
    store.put("object", DATA)
    store.put("object", kind(b"short"))
    assert bytes(store.get("object")) == b"short"
    assert store.head("object").size == 5


def test_a_zero_byte_object_is_an_object(store: ObjectStore) -> None:
    store.put("empty", b"")
    assert store.head("empty").size == 0
    assert bytes(store.get("empty")) == b""
    assert keys(store) == ["empty"]
    with pytest.raises(PreconditionFailed):
        store.create("empty", b"more")


def test_T31_a_read_is_pinned_to_one_etag(store: ObjectStore) -> None:
    etag = store.put("object", b"first")
    assert bytes(store.get("object", if_match=etag)) == b"first"
    assert bytes(store.get("object", 1, 3, if_match=etag)) == b"ir"
    store.put("object", b"other" if store.capabilities.etags else b"longer")
    for start, end in ((0, None), (1, 3)):
        with pytest.raises(PreconditionFailed):
            store.get("object", start, end, if_match=etag)


def test_T31_an_etag_of_a_listing_pins_as_well(store: ObjectStore) -> None:
    store.put_stream("object", [b"a" * PART, b"b" * PART, b"c"])
    (listed,) = store.list("object")
    assert bytes(store.get("object", PART - 1, PART + 1, if_match=listed.etag)) == b"ab"
    with pytest.raises(PreconditionFailed):
        store.get("object", 0, 1, if_match="0" * 32)


def test_if_match_on_what_is_not_there_is_an_error(store: ObjectStore) -> None:
    with pytest.raises((ObjectNotFound, PreconditionFailed)):
        store.get("nothing", if_match="0" * 32)


def test_create_makes_what_is_new_and_refuses_what_exists(store: ObjectStore) -> None:
    etag = store.create("a/record.json", b"first")
    assert store.head("a/record.json").etag == etag
    with pytest.raises(PreconditionFailed):
        store.create("a/record.json", b"second")
    assert bytes(store.get("a/record.json")) == b"first"
    store.delete(["a/record.json"])
    store.create("a/record.json", b"third")


def test_put_stream_joins_its_parts(store: ObjectStore) -> None:
    parts = [b"a" * PART, bytearray(b"b" * (PART + 1)), memoryview(b"c"), b""]
    etag = store.put_stream("large", iter(parts))
    whole = b"".join(parts)
    assert bytes(store.get("large")) == whole
    head = store.head("large")
    assert (head.size, head.etag) == (len(whole), etag)


@pytest.mark.parametrize("parts", [[], [b""], [b"", b"x"]], ids=repr)
def test_put_stream_of_little_is_an_object_too(store: ObjectStore, parts: list[bytes]) -> None:
    store.put_stream("small", iter(parts))
    assert bytes(store.get("small")) == b"".join(parts)


@pytest.mark.parametrize("good", [0, 1, 4])
def test_put_stream_is_whole_or_nothing(store: ObjectStore, good: int) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(good):
            yield b"x" * PART
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError, match="the source broke"):
        store.put_stream("broken", parts())
    assert keys(store) == []
    with pytest.raises(ObjectNotFound):
        store.head("broken")


def test_put_stream_that_breaks_leaves_what_was_there(store: ObjectStore) -> None:
    def parts() -> Iterator[bytes]:
        yield b"x" * PART
        raise RuntimeError("the source broke")

    store.put("object", b"good")
    with pytest.raises(RuntimeError):
        store.put_stream("object", parts())
    assert bytes(store.get("object")) == b"good"


def test_T68_delete_removes_and_what_is_not_there_counts_as_removed(store: ObjectStore) -> None:
    for key in ("a", "b/c", "b/d"):
        store.put(key, b"x")
    store.delete(["a", "nothing", "no/folder/nothing", "b/c"])
    assert keys(store) == ["b/d"]
    store.delete(["a"])
    store.delete([])
    store.delete(iter(["b/d"]))
    assert keys(store) == []


def test_delete_below_an_object_removes_nothing(store: ObjectStore) -> None:
    store.put("object", b"x")
    store.delete(["object/below"])
    assert keys(store) == ["object"]


def test_nothing_that_was_finished_is_unfinished(store: ObjectStore) -> None:
    assert list(store.unfinished()) == []
    store.put("a", b"x")
    store.put_stream("b/c", [b"x", b"y"])
    assert list(store.unfinished()) == []
    assert sorted(keys(store)) == ["a", "b/c"]


def test_a_failure_names_the_object_and_is_of_the_storage_kind(store: ObjectStore) -> None:
    with pytest.raises(StorageError) as caught:
        store.get("some/key")
    assert "some/key" in str(caught.value)


@pytest.mark.parametrize("key", ["a\0b", "x" * 2000, "\ud800"], ids=["nul", "long", "surrogate"])
def test_T21_a_key_no_store_can_hold_is_of_the_storage_kind(store: ObjectStore, key: str) -> None:
    for call in (store.get, store.head, lambda bad: store.put(bad, b"x")):
        try:
            call(key)
        except StorageError as problem:
            assert not problem.transient
