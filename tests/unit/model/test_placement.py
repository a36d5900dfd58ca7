"""model/placement.py: where the bytes of a tree lie; hostile until checked."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.errors import ManifestInvalid
from stager.model import columns
from stager.model.digest import digest_of
from stager.model.placement import (
    KIND,
    MAX_FRAME_RAW,
    RAW,
    TRUSTED,
    ZSTD,
    Frame,
    Pack,
    PlacementBuilder,
    Slice,
    decode,
)
from tests.unit.examples import contents, entry, placed

TYPES = {
    "pack_key": "str",
    "pack_size": "u64",
    "pack_etag": "str",
    "frame_pack": "u32",
    "frame_offset": "u64",
    "frame_stored": "u32",
    "frame_raw": "u32",
    "frame_codec": "u8",
    "frame_digest": "b32",
    "file_path": "str",
    "file_size": "u64",
    "file_weak": "u8",
    "file_digest": "b32",
    "file_slices": "u32",
    "slice_frame": "u32",
    "slice_offset": "u32",
    "slice_length": "u32",
}
DIGEST = digest_of(b"x" * 10).raw


def table(**changes: Any) -> dict[str, tuple[str, Any]]:
    """Columns of a placement in order (one frame of ten bytes, one file), but for the changes."""
    values: dict[str, Any] = {
        "pack_key": ["packs/aa/bb"],
        "pack_size": [10],
        "pack_etag": [""],
        "frame_pack": [0],
        "frame_offset": [0],
        "frame_stored": [10],
        "frame_raw": [10],
        "frame_codec": [RAW],
        "frame_digest": DIGEST,
        "file_path": ["a"],
        "file_size": [10],
        "file_weak": [0],
        "file_digest": DIGEST,
        "file_slices": [1],
        "slice_frame": [0],
        "slice_offset": [0],
        "slice_length": [10],
    }
    return {name: (TYPES[name], value) for name, value in (values | changes).items()}


def refused(columns_given: Mapping[str, tuple[str, Any]]) -> str:
    """Why a placement of these columns is refused; fails when it is accepted."""
    with pytest.raises(ManifestInvalid) as caught:
        decode(columns.encode(KIND, columns_given), "here")
    return str(caught.value)


def test_the_example_is_in_order() -> None:
    assert decode(columns.encode(KIND, table()), "here").bytes_raw == 10


@given(contents(), st.integers(1, 100))
def test_there_and_back(files: dict[str, bytes], frame_bytes: int) -> None:
    placement, packs = placed(files, frame_bytes)
    data = placement.encode()
    found = decode(data, "here")
    assert found.encode() == data
    assert found.tree() == placement.tree()
    assert found.bytes_raw == sum(map(len, files.values()))
    assert found.bytes_stored == sum(map(len, packs.values()))
    for at, file in enumerate(found.files):
        assert sum(piece.length for piece in found.slices_of(at)) == file.size


@given(contents(), st.integers(1, 100), st.integers(0), st.integers(0, 255))
def test_a_flipped_byte_is_refused_or_decodes(
    files: dict[str, bytes], frame_bytes: int, at: int, byte: int
) -> None:
    data = bytearray(placed(files, frame_bytes)[0].encode())
    data[at % len(data)] = byte
    try:
        found = decode(bytes(data), "here")
    except ManifestInvalid:
        return
    assert all(one.path.encode() < two.path.encode() for one, two in pairwise(found.files))


@given(st.binary(max_size=60))
def test_random_bytes_are_refused_in_one_way(data: bytes) -> None:
    with pytest.raises(ManifestInvalid):
        decode(data, "here")


@given(st.sampled_from(sorted(TYPES)), st.data())
def test_random_numbers_are_refused_or_hold_together(name: str, data: st.DataObject) -> None:
    if TYPES[name] in ("str", "b32"):
        return
    width = {"u8": 8, "u32": 32, "u64": 64}[TYPES[name]]
    values = data.draw(st.lists(st.integers(0, 2**width - 1), max_size=3))
    try:
        found = decode(columns.encode(KIND, table(**{name: values})), "here")
    except ManifestInvalid:
        return
    for frame in found.frames:
        assert frame.offset + frame.stored <= found.packs[frame.pack].size
        assert 0 < frame.raw <= MAX_FRAME_RAW


@given(st.sampled_from(sorted(TYPES)), st.sampled_from(["u8", "u32", "u64", "str", "b32"]))
def test_a_column_of_another_type_is_refused(name: str, column_type: str) -> None:
    if column_type == TYPES[name] or {column_type, TYPES[name]} <= {"u8", "u32", "u64"}:
        return
    value: Any = {"str": ["1"], "b32": b"1" * 32}.get(column_type, [1])
    refused(table() | {name: (column_type, value)})


@given(st.sampled_from(sorted(TYPES)))
def test_a_missing_column_is_refused(name: str) -> None:
    refused({key: value for key, value in table().items() if key != name})


@pytest.mark.parametrize("path", ["../a", "/a", "a//b", "a/", "", "a\\b", ".", "x" * 300])
def test_T26_a_path_that_leaves_the_root_is_refused(path: str) -> None:
    assert "is not safe" in refused(table(file_path=[path]))


@pytest.mark.parametrize(
    "names", [["a", "a"], ["b", "a"], ["a", "a/b"], ["a", "a-b", "a/b"]], ids=str
)
def test_T19_paths_that_meet_are_refused(names: list[str]) -> None:
    many = len(names)
    refused(
        table(
            file_path=names,
            file_size=[0] * many,
            file_weak=[0] * many,
            file_digest=DIGEST * many,
            file_slices=[0] * many,
            slice_frame=[],
            slice_offset=[],
            slice_length=[],
        )
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"frame_pack": [1]},
        {"frame_offset": [1]},
        {"frame_offset": [2**64 - 1]},
        {"frame_stored": [11]},
        {"frame_stored": [0]},
        {"frame_stored": [9]},
        {"frame_raw": [0], "frame_stored": [0], "frame_codec": [ZSTD]},
        {"frame_raw": [MAX_FRAME_RAW + 1], "frame_codec": [ZSTD]},
        {"frame_codec": [3]},
        {"frame_codec": [255]},
        {"frame_digest": b""},
        {"frame_digest": DIGEST * 2},
        {"pack_size": [9]},
        {"pack_size": []},
        {"pack_etag": ["a", "b"]},
        {"file_size": [9]},
        {"file_size": [2**63]},
        {"file_digest": DIGEST * 2},
        {"file_slices": [0]},
        {"file_slices": [2]},
        {"file_slices": [1, 0]},
        {"file_slices": [2**32 - 1, 2**32 - 1]},
        {"slice_frame": [1]},
        {"slice_frame": [2**32 - 1]},
        {"slice_offset": [1]},
        {"slice_offset": [2**32 - 1]},
        {"slice_length": [0]},
        {"slice_length": [11]},
        {"slice_length": [10, 10]},
        {"slice_offset": []},
    ],
    ids=str,
)
def test_a_table_that_points_outside_is_refused(changes: dict[str, Any]) -> None:
    refused(table(**changes))


def test_another_format_is_refused() -> None:
    data = columns.encode(KIND, table()).replace(b'"format":1', b'"format":2', 1)
    with pytest.raises(ManifestInvalid, match="newer"):
        decode(data, "here")


def test_the_builder_puts_files_in_order_and_shares_packs() -> None:
    builder = PlacementBuilder()
    pack = builder.pack(Pack("packs/aa/bb", 10))
    assert builder.pack(Pack("packs/aa/bb", 10)) == pack
    frame = builder.frame(Frame(pack, 0, 10, 10, TRUSTED, bytes(32)))
    builder.file(entry("b", b"12345"), [Slice(frame, 5, 5)])
    builder.file(entry("a", b"67890"), [Slice(frame, 0, 5)])
    built = decode(builder.build().encode(), "here")
    assert [file.path for file in built.files] == ["a", "b"]
    assert list(built.slices_of(1)) == [Slice(0, 5, 5)]
    assert len(built.packs) == 1


def test_a_path_that_stands_twice_is_a_mistake_of_the_caller() -> None:
    builder = PlacementBuilder()
    builder.file(entry("a"), [])
    builder.file(entry("a"), [])
    with pytest.raises(ValueError, match="twice"):
        builder.build()


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(1, 5)), max_size=4),
        max_size=5,
    ),
    st.randoms(use_true_random=False),
)
def test_the_builder_keeps_every_files_slices_in_any_order_of_adding(
    chosen: list[list[tuple[int, int, int]]], order: random.Random
) -> None:
    builder = PlacementBuilder()
    pack = builder.pack(Pack("packs/aa/bb", 30))
    for at in range(3):
        assert builder.frame(Frame(pack, 10 * at, 10, 10, RAW, bytes(32))) == at
    files = [(f"{at}", [Slice(*piece) for piece in pieces]) for at, pieces in enumerate(chosen)]
    order.shuffle(files)
    for path, slices in files:
        builder.file(entry(path, b"x" * sum(piece.length for piece in slices)), iter(slices))
    built = builder.build()
    assert builder.build().encode() == built.encode()
    found = decode(built.encode(), "here")
    assert {file.path: list(found.slices_of(at)) for at, file in enumerate(found.files)} == dict(
        files
    )


def test_packs_differ_by_key_size_and_etag() -> None:
    builder = PlacementBuilder()
    packs = [Pack("a", 1), Pack("a", 2), Pack("a", 1, "etag"), Pack("b", 1)]
    assert [builder.pack(pack) for pack in packs] == [0, 1, 2, 3]
    assert [builder.pack(pack) for pack in packs] == [0, 1, 2, 3]
    assert builder.packs == packs


def test_slices_are_taken_one_at_a_time() -> None:
    """The slices of a version may not fit in memory as objects."""
    builder = PlacementBuilder()
    builder.frame(Frame(builder.pack(Pack("a", 10)), 0, 10, 10, RAW, bytes(32)))
    builder.file(entry("a", b"x" * 1000), (Slice(0, 0, 1) for _ in range(1000)))
    built = builder.build()
    assert (len(built.slice_frame), built.slice_frame.itemsize) == (1000, 4)
