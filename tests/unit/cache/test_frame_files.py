"""cache/frame_files.py: frames in the files of a folder, written and read back."""

from __future__ import annotations

import contextlib
import os
import random
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.cache import staging
from stager.cache.frame_files import FrameFiles, Use
from stager.model.digest import digest_of
from stager.model.placement import RAW, TRUSTED, Frame, Pack, Placement, PlacementBuilder, Slice
from stager.packs import codec
from tests.unit.examples import contents, entry, placed

RAW_BYTES = bytes(range(100))


def raw_frames(placement: Placement, packs: dict[str, bytes]) -> list[bytes]:
    """The raw bytes of every frame."""
    found = []
    for frame in placement.frames:
        key = placement.packs[frame.pack].key
        span = memoryview(packs[key])[frame.offset : frame.offset + frame.stored]
        found.append(bytes(codec.decode(span, frame, key)))
    return found


def shared(folder: Path, *pieces: tuple[str, list[Slice], bytes]) -> FrameFiles:
    """Files made of slices of one frame, RAW_BYTES; begun in a folder."""
    raw = RAW_BYTES
    builder = PlacementBuilder()
    pack = builder.pack(Pack("packs/aa/bb", 100))
    builder.frame(Frame(pack, 0, 100, 100, RAW, digest_of(raw).raw))
    for path, slices, content in pieces:
        builder.file(entry(path, content), slices)
    placement = builder.build()
    staging.begin(folder, placement)
    return FrameFiles(str(folder), placement)


@contextlib.contextmanager
def damaged(path: Path, at: int) -> Iterator[None]:
    """A file with one byte changed."""
    before = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(before[:at] + bytes([before[at] ^ 1]) + before[at + 1 :])
    yield
    path.write_bytes(before)


pieces = st.lists(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 39), st.integers(1, 40)).map(
            lambda piece: Slice(piece[0], piece[1], min(piece[2], 40 - piece[1]))
        ),
        max_size=5,
    ),
    min_size=1,
    max_size=4,
)
THREE = [random.Random(seed).randbytes(40) for seed in range(3)]


def sliced(folder: Path, chosen: list[list[Slice]], leave: frozenset[int]) -> FrameFiles:
    """Files made of any slices of THREE frames of 40 bytes."""
    builder = PlacementBuilder()
    pack = builder.pack(Pack("packs/aa/bb", 120))
    for at, raw in enumerate(THREE):
        builder.frame(Frame(pack, 40 * at, 40, 40, RAW, digest_of(raw).raw))
    for number, slices in enumerate(chosen):
        builder.file(entry(f"{number}", content_of(slices)), slices)
    placement = builder.build()
    staging.begin(folder, placement)
    return FrameFiles(str(folder), placement, leave)


def content_of(slices: list[Slice]) -> bytes:
    """What a file of these slices holds."""
    return b"".join(
        THREE[piece.frame][piece.offset : piece.offset + piece.length] for piece in slices
    )


@given(pieces, st.frozensets(st.integers(0, 3), max_size=2), st.permutations(range(3)))
def test_any_slices_of_any_frames_make_the_files(
    chosen: list[list[Slice]], leave: frozenset[int], order: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = sliced(Path(folder), chosen, leave)
        written = [at for at in range(len(chosen)) if at not in leave]
        for frame in order:
            files.write(frame, THREE[frame])
        for at, slices in enumerate(chosen):
            path = Path(folder, str(at))
            if at in leave or not slices:
                assert not path.exists()
            else:
                assert path.read_bytes() == content_of(slices)
                assert files.is_right(at)
        for frame, raw in enumerate(THREE):
            uses = [(at, piece) for at in written for piece in chosen[at] if piece.frame == frame]
            assert [(use.file, use.frame_offset, use.length) for use in files.uses(frame)] == [
                (at, piece.offset, piece.length) for at, piece in uses
            ]
            assert files.bytes_used(frame) == sum(piece.length for _, piece in uses)
            seen = {at for _, (_, start, size) in uses for at in range(start, start + size)}
            assert files.is_whole(frame) == (len(seen) == 40)
            assert files.read(frame) == (raw if len(seen) == 40 else None)
            assert files.is_sound(frame) == (len(seen) == 40)
            assert files.used_digest(frame) == files.used_digest(frame, raw)


@given(pieces, st.integers(0), st.integers(0))
def test_T9_a_changed_byte_is_seen_by_its_frame_and_its_file(
    chosen: list[list[Slice]], which: int, where: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = sliced(Path(folder), chosen, frozenset())
        for frame, raw in enumerate(THREE):
            files.write(frame, raw)
        full = [at for at, slices in enumerate(chosen) if slices]
        if not full:
            return
        file = full[which % len(full)]
        at = where % files.placement.files[file].size
        position, frame = 0, 0
        for piece in chosen[file]:
            if position <= at < position + piece.length:
                frame = piece.frame
            position += piece.length
        with damaged(Path(folder, str(file)), at):
            assert not files.is_right(file)
            assert not files.is_sound(frame)
            assert files.used_digest(frame) != files.used_digest(frame, THREE[frame])
        assert files.is_right(file)


def test_what_is_noted_of_a_part_is_gone_with_the_file(tmp_path: Path) -> None:
    files = shared(tmp_path, ("a", [Slice(0, 10, 20)], RAW_BYTES[10:30]))
    files.write(0, RAW_BYTES)
    assert files.used_digest(0) == digest_of(RAW_BYTES[10:30]).raw
    os.chmod(tmp_path / "a", 0o644)
    os.truncate(tmp_path / "a", 19)
    assert files.used_digest(0) is None
    assert not files.is_right(0)
    (tmp_path / "a").unlink()
    assert files.used_digest(0) is None
    assert not files.is_right(0)


def test_a_file_that_is_too_long_is_not_right(tmp_path: Path) -> None:
    files = shared(tmp_path, ("a", [Slice(0, 0, 100)], RAW_BYTES))
    (tmp_path / "a").write_bytes(RAW_BYTES + b"more")
    assert not files.is_right(0)


@given(contents(), st.integers(1, 100), st.randoms(use_true_random=False))
def test_frames_written_in_any_order_make_the_files(
    files: dict[str, bytes], frame_bytes: int, order: random.Random
) -> None:
    placement, packs = placed(files, frame_bytes)
    frames = list(enumerate(raw_frames(placement, packs)))
    order.shuffle(frames)
    with tempfile.TemporaryDirectory() as folder:
        try:
            staging.begin(Path(folder), placement)
            in_files = FrameFiles(folder, placement)
            for at, raw in frames:
                in_files.write(at, raw)
        except OSError as problem:  # a name longer than this disk allows
            assert problem.errno == 36
            return
        staging.complete(in_files)
        for path, content in files.items():
            assert Path(folder, path).read_bytes() == content
        for at, raw in frames:
            assert in_files.read(at) == raw
            assert in_files.is_sound(at)


def test_a_frame_that_many_files_share_is_put_together_again(tmp_path: Path) -> None:
    files = shared(
        tmp_path,
        ("a", [Slice(0, 0, 60)], RAW_BYTES[:60]),
        ("b/c", [Slice(0, 60, 40)], RAW_BYTES[60:]),
    )
    files.write(0, RAW_BYTES)
    assert (tmp_path / "a").read_bytes() == RAW_BYTES[:60]
    assert (tmp_path / "b/c").read_bytes() == RAW_BYTES[60:]
    assert files.read(0) == RAW_BYTES
    assert files.is_sound(0)
    assert files.frames_of(0) == {0}
    assert files.uses(0) == [Use(0, 0, 0, 60), Use(1, 0, 60, 40)]
    assert files.bytes_used(0) == 100
    assert files.is_whole(0)


def test_a_frame_used_in_part_cannot_be_read_back(tmp_path: Path) -> None:
    files = shared(tmp_path, ("a", [Slice(0, 10, 20), Slice(0, 50, 5)], b"y" * 25))
    files.write(0, RAW_BYTES)
    assert (tmp_path / "a").read_bytes() == RAW_BYTES[10:30] + RAW_BYTES[50:55]
    assert files.read(0) is None
    assert not files.is_sound(0)
    assert not files.is_whole(0)
    assert files.bytes_used(0) == 25


def test_parts_that_overlap_are_each_looked_at(tmp_path: Path) -> None:
    """Repeated records: no part alone is the frame, none stands wholly in another."""
    parts = {"a": (0, 60), "b": (40, 100), "c": (30, 80), "d": (0, 61), "e": (99, 100)}
    files = shared(
        tmp_path,
        *(
            (name, [Slice(0, start, end - start)], RAW_BYTES[start:end])
            for name, (start, end) in parts.items()
        ),
    )
    files.write(0, RAW_BYTES)
    assert files.read(0) == RAW_BYTES
    assert files.is_sound(0)
    for name, (start, end) in parts.items():
        for at in range(end - start):
            with damaged(tmp_path / name, at):
                assert not files.is_sound(0), (name, at)
    assert files.is_sound(0)


def test_every_copy_of_a_frame_is_looked_at(tmp_path: Path) -> None:
    files = shared(
        tmp_path,
        ("a", [Slice(0, 0, 100)], RAW_BYTES),
        ("b", [Slice(0, 0, 100)], RAW_BYTES),
        ("c", [Slice(0, 20, 10)], RAW_BYTES[20:30]),
    )
    files.write(0, RAW_BYTES)
    assert files.is_sound(0)
    for name in ("a", "b", "c"):
        path = tmp_path / name
        before = path.read_bytes()
        path.unlink()
        path.write_bytes(bytes([before[0] ^ 1]) + before[1:])
        assert not files.is_sound(0), name
        path.write_bytes(before)
    assert files.is_sound(0)


@pytest.mark.parametrize("damage", ["missing", "short", "link", "folder", "pipe"])
def test_T15_a_file_that_is_not_what_it_was_is_never_sound(tmp_path: Path, damage: str) -> None:
    files = shared(tmp_path, ("a", [Slice(0, 0, 100)], RAW_BYTES))
    files.write(0, RAW_BYTES)
    path = tmp_path / "a"
    path.rename(tmp_path / "moved")
    if damage == "short":
        path.write_bytes(RAW_BYTES[:99])
    elif damage == "link":
        path.symlink_to("moved")
    elif damage == "folder":
        path.mkdir()
    elif damage == "pipe":
        os.mkfifo(path)
        writer = os.open(path, os.O_RDWR)  # without one, opening the pipe would wait for ever
        assert not files.is_sound(0)
        os.close(writer)
        return
    assert not files.is_sound(0)


def test_T15_a_hole_of_the_right_size_is_not_sound(tmp_path: Path) -> None:
    files = shared(tmp_path, ("a", [Slice(0, 0, 100)], RAW_BYTES))
    (tmp_path / "a").touch()
    os.truncate(tmp_path / "a", 100)
    assert not files.is_sound(0)


def test_T33_bytes_without_a_digest_are_never_sound(tmp_path: Path) -> None:
    builder = PlacementBuilder()
    pack = builder.pack(Pack("packs/aa/bb", 4))
    builder.frame(Frame(pack, 0, 4, 4, TRUSTED, bytes(32)))
    builder.file(entry("a", b"1234"), [Slice(0, 0, 4)])
    files = FrameFiles(str(tmp_path), builder.build())
    files.write(0, b"1234")
    assert (tmp_path / "a").read_bytes() == b"1234"
    assert not files.is_sound(0)


def test_what_is_left_out_is_not_written(tmp_path: Path) -> None:
    files = shared(
        tmp_path, ("a", [Slice(0, 0, 60)], b"x" * 60), ("b", [Slice(0, 60, 40)], b"x" * 40)
    )
    partly = FrameFiles(str(tmp_path), files.placement, leave={0})
    partly.write(0, RAW_BYTES)
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_T26_a_link_in_the_way_is_not_written_through(tmp_path: Path) -> None:
    files = shared(
        tmp_path / "s",
        ("a", [Slice(0, 0, 60)], b"x" * 60),
        ("b", [Slice(0, 0, 50), Slice(0, 50, 50)], b"x" * 100),
    )
    outside = tmp_path / "outside"
    outside.write_bytes(b"precious")
    for name in ("a", "b"):
        (tmp_path / "s" / name).symlink_to(outside)
    with contextlib.suppress(OSError):
        files.write(0, RAW_BYTES)
    assert outside.read_bytes() == b"precious"


def test_many_threads_write_one_file(tmp_path: Path) -> None:
    content = random.Random(5).randbytes(200_000)
    placement, packs = placed({"a": content}, 1000)
    files = FrameFiles(str(tmp_path), placement)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(files.write, range(len(placement.frames)), raw_frames(placement, packs)))
    assert Path(files.location(0)).read_bytes() == content
