"""packs/source.py: what can be a version, and all that cannot, named at once."""

from __future__ import annotations

import io
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.errors import DataError, SourceChanged, UsageError
from stager.model.paths import MAX_DEPTH
from stager.packs import source
from stager.packs.source import (
    MAX_FRAME,
    SourceFile,
    blocks,
    cut_stream,
    frames,
    read,
    record_blocks,
    records,
    scan,
)
from tests.unit.model.test_records import cuts, lines


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder to be scanned, with one file in it."""
    root = tmp_path / "data"
    root.mkdir()
    (root / "good.jsonl").write_bytes(b"{}\n")
    return root


def findings(root: Path) -> list[str]:
    """All that scan refuses."""
    with pytest.raises(DataError) as caught:
        scan(root)
    found = caught.value.fields["findings"]
    assert isinstance(found, list)
    return found


def test_files_come_in_the_order_of_their_paths_bytes(tree: Path) -> None:
    for name in ("b", "a/x", "a-b", "a.b", "é", "Z"):
        path = tree / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode())
    found = scan(tree)
    names = [file.path for file in found.files]
    assert names == ["Z", "a-b", "a.b", "a/x", "b", "good.jsonl", "é"]
    assert found.bytes_raw == sum(len(read(file)) for file in found.files)


def test_a_file_is_a_version_of_one(tree: Path) -> None:
    found = scan(tree / "good.jsonl")
    assert [file.path for file in found.files] == ["good.jsonl"]
    assert read(found.files[0]) == b"{}\n"


def test_T26_a_single_file_obeys_the_rules_of_names_too(tree: Path) -> None:
    (tree / "a\\b").write_bytes(b"x")
    assert len(findings(tree / "a\\b")) == 1


def test_what_is_not_there_is_said(tree: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        scan(tree / "nothing")


def test_a_pipe_is_no_source(tree: Path) -> None:
    os.mkfifo(tree / "pipe")
    with pytest.raises((UsageError, DataError)):
        scan(tree / "pipe")


def test_empty_folders_are_told(tree: Path) -> None:
    (tree / "a" / "b").mkdir(parents=True)
    assert scan(tree).empty_folders == ("a/b",)


def test_T26_every_offender_is_named_at_once(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"secret")
    os.symlink("../outside", tree / "leaves")
    os.symlink("/etc/hostname", tree / "absolute")
    os.symlink("nowhere", tree / "dangling")
    os.mkfifo(tree / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tree / "socket"))
        (tree / "back\\slash").write_bytes(b"x")
        (tree / os.fsdecode(b"not-utf8-\xff")).write_bytes(b"x")
        (tree / "GOOD.jsonl").write_bytes(b"x")
        found = findings(tree)
    for name in ("leaves", "absolute", "dangling", "pipe", "socket", "back", "not-utf8", "GOOD"):
        assert sum(f"'{name}" in finding for finding in found) == 1, name
    assert len(found) == 8


def test_a_link_inside_the_tree_is_what_it_points_to(tree: Path) -> None:
    (tree / "sub").mkdir()
    (tree / "sub" / "x").write_bytes(b"x")
    os.symlink("good.jsonl", tree / "copy")
    os.symlink("sub", tree / "also")
    names = {file.path: read(file) for file in scan(tree).files}
    assert names == {"good.jsonl": b"{}\n", "copy": b"{}\n", "sub/x": b"x", "also/x": b"x"}


@pytest.mark.parametrize("target", [".", "..", "../sub", "../../data"])
def test_a_loop_is_named_by_its_link(tree: Path, target: str) -> None:
    (tree / "sub").mkdir()
    (tree / "sub" / "x").write_bytes(b"x")
    os.symlink(target, tree / "sub" / "loop")
    (finding,) = findings(tree)
    assert finding.startswith("'sub/loop': ")


@pytest.mark.parametrize("target", ["loop", "nowhere/../good.jsonl", "good.jsonl/../good.jsonl"])
def test_a_link_that_no_system_call_can_follow_is_named(tree: Path, target: str) -> None:
    os.symlink(target, tree / "loop")
    (finding,) = findings(tree)
    assert finding == "'loop': a link to nothing"


def test_a_root_that_is_a_link_is_followed(tree: Path, tmp_path: Path) -> None:
    os.symlink("data", tmp_path / "link")
    assert [file.path for file in scan(tmp_path / "link").files] == ["good.jsonl"]


def test_a_link_that_leaves_by_a_sibling_of_a_like_name_is_refused(tree: Path) -> None:
    (tree.parent / "data-2").mkdir()
    os.symlink("../data-2", tree / "link")
    (finding,) = findings(tree)
    assert "leaves the tree" in finding


def deep_tree(below: Path, depth: int) -> None:
    deep = os.open(below, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=deep)
        nearer = os.open("d", os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = nearer
    os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=deep))
    os.close(deep)


def test_a_deep_tree_is_scanned(tmp_path: Path) -> None:
    deep_tree(tmp_path, MAX_DEPTH - 1)
    assert [file.path for file in scan(tmp_path).files] == ["d/" * (MAX_DEPTH - 1) + "f"]


def test_T26_a_tree_deeper_than_any_is_refused_by_name(tmp_path: Path) -> None:
    deep_tree(tmp_path, 500)
    with pytest.raises(DataError, match="d/d/f': more than 128 segments"):
        scan(tmp_path)


def test_T32_a_file_that_changed_since_the_scan_is_named(tree: Path) -> None:
    path = tree / "good.jsonl"
    (file,) = scan(tree).files
    facts = os.stat(path)
    path.write_bytes(b"[]\n")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))  # same size, same time
    with pytest.raises(SourceChanged, match="good"):
        read(file)
    with pytest.raises(SourceChanged, match="good"):
        list(frames(file))


@pytest.mark.parametrize("content", [b"", b"{}", b"{}\n{}\n"])
def test_T32_a_file_that_shrank_or_grew_is_named(tree: Path, content: bytes) -> None:
    (file,) = scan(tree).files
    (tree / "good.jsonl").write_bytes(content)
    with pytest.raises(SourceChanged):
        read(file)
    with pytest.raises(SourceChanged):
        list(frames(file))


def test_T32_a_file_that_is_written_to_while_it_is_read_is_named(tree: Path) -> None:
    path = tree / "large"
    path.write_bytes(lines(1200))
    (file,) = (file for file in scan(tree).files if file.path == "large")
    reading = frames(file)
    next(reading)
    with path.open("ab") as stream:
        stream.write(b"one more\n")
    with pytest.raises(SourceChanged, match="large"):
        list(reading)


def test_T32_a_file_replaced_by_another_is_named(tree: Path) -> None:
    (file,) = scan(tree).files
    (tree / "new").write_bytes(b"{}\n")
    os.utime(tree / "new", ns=(file.stamp[0], file.stamp[0]))
    os.replace(tree / "new", tree / "good.jsonl")
    with pytest.raises(SourceChanged):
        read(file)


def test_a_large_file_is_its_frames(tree: Path) -> None:
    (tree / "large").write_bytes(lines(1200))
    file = next(file for file in scan(tree).files if file.path == "large")
    assert not file.is_small
    assert b"".join(frames(file)) == lines(1200)


@pytest.mark.parametrize("block", [65_537, 1024 * 1024, 8 * 1024 * 1024 + 1, 2**30])
def test_the_size_of_the_blocks_does_not_matter(block: int) -> None:
    data = lines(1200)
    blocks: Iterator[bytes] = (data[at : at + block] for at in range(0, len(data), block))
    lengths = [len(frame) for frame in cut_stream(blocks)]
    ends = cuts(data)
    assert lengths == [end - start for start, end in zip([0, *ends], ends, strict=False)]


def test_a_frame_stays_as_it_was_when_the_next_is_cut() -> None:
    data = lines(1200)
    blocks = (data[at : at + 100_000] for at in range(0, len(data), 100_000))
    assert b"".join(list(cut_stream(blocks))) == data


def test_nothing_has_no_frames() -> None:
    assert list(cut_stream([])) == []
    assert list(cut_stream([b"", b""])) == []


def test_a_small_file_is_one_that_shares_frames(tree: Path) -> None:
    (tree / "edge").write_bytes(bytes(source.SMALL_FILE))
    sizes = {file.path: file.is_small for file in scan(tree).files}
    assert sizes == {"good.jsonl": True, "edge": False}


def large(tree: Path) -> SourceFile:
    """A file of several frames."""
    (tree / "large").write_bytes(lines(1200))
    return next(file for file in scan(tree).files if file.path == "large")


@pytest.mark.parametrize(
    ("start", "length"), [(0, 0), (0, 10), (7, 3_000_000), (5_000_000, None), (0, None)]
)
def test_a_part_of_a_file_is_that_part(tree: Path, start: int, length: int | None) -> None:
    file = large(tree)
    expected = lines(1200)[start:] if length is None else lines(1200)[start : start + length]
    assert read(file, start, length) == expected
    found = [bytes(frame) for frame in frames(file, start, length)]
    assert b"".join(found) == expected
    assert found == [bytes(frame) for frame in cut_stream([expected])]


def test_T32_a_part_of_a_file_that_changed_is_not_read(tree: Path) -> None:
    file = large(tree)
    with (tree / "large").open("r+b") as stream:
        stream.truncate(9_000_000)
    for start, length in ((0, 10), (8_999_990, 20), (9_000_000, 10)):
        with pytest.raises(SourceChanged, match="large"):
            read(file, start, length)
        with pytest.raises(SourceChanged, match="large"):
            list(frames(file, start, length))
    with pytest.raises(SourceChanged, match="large"):
        list(records(file))


def test_T32_records_of_a_file_that_grows_meanwhile_are_refused(tree: Path) -> None:
    file = large(tree)
    reading = records(file)
    next(reading)
    with (tree / "large").open("ab") as stream:
        stream.write(b"one more\n")
    with pytest.raises(SourceChanged, match="large"):
        list(reading)


def test_records_of_a_file_are_the_file(tree: Path) -> None:
    file = large(tree)
    found = list(records(file))
    assert b"".join(found) == lines(1200)
    assert all(block.endswith(b"\n") for block in found)
    assert max(map(len, found)) < 2 * MAX_FRAME
    (small,) = (file for file in scan(tree).files if file.is_small)
    assert list(records(small)) == [b"{}\n"]


@given(
    st.lists(st.binary(max_size=30).map(lambda data: data.replace(b"\1", b"\n")), max_size=20),
    st.integers(1, 40),
)
def test_record_blocks_are_the_stream_and_end_at_record_ends(
    parts: list[bytes], longest: int
) -> None:
    """But for the end of the stream and for records longer than a frame."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "MAX_FRAME", longest)
        found = list(record_blocks(parts))
    stream = b"".join(parts)
    assert b"".join(found) == stream
    assert all(found)
    for block in found[:-1]:
        if not block.endswith(b"\n"):
            assert b"\n" not in block.rpartition(b"\n")[2]
            assert len(block.rpartition(b"\n")[2]) >= min(longest, 1)
            assert b"\n" not in block, "a block with a record end ends at one"
            assert len(block) >= longest


def test_a_long_record_is_held_until_it_is_too_long() -> None:
    mega = 1024 * 1024
    parts = [b"x" * mega] * 20 + [b"\n", b"next\n"]
    found = list(record_blocks(parts))
    assert [len(block) for block in found] == [8 * mega, 8 * mega, 4 * mega + 1, 5]


def test_blocks_are_what_is_left_of_a_file(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "RECORD_BYTES", 7)
    with open(tree / "good.jsonl", "rb", buffering=0) as stream:
        stream.seek(1)
        assert list(blocks(stream)) == [b"}\n"]
        assert list(blocks(stream)) == []
    assert list(blocks(io.BytesIO(b"x" * 15))) == [b"x" * 7, b"x" * 7, b"x"]  # type: ignore[arg-type]
