"""cache/staging.py: work in progress becomes exactly the tree, by one rename."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stager.cache import staging
from stager.cache.folders import Folders
from stager.cache.frame_files import FrameFiles
from stager.cache.signature import signature_of
from stager.cache.staged import find
from stager.errors import IntegrityError
from stager.model.digest import Digest
from stager.model.placement import RAW, Frame, Pack, Placement, PlacementBuilder, Slice
from stager.model.receipt import Receipt
from stager.model.tree import FileEntry
from tests.unit.cache.test_frame_files import raw_frames
from tests.unit.examples import TREE, placed

CONTENTS = {"a": b"x" * 150, "b/c": b"y" * 20, "b/empty": b"", "empty": b"", "z/z/z": b"z" * 64}


def filled(folder: Path) -> FrameFiles:
    """A staging folder with all its frames."""
    placement, packs = placed(CONTENTS)
    staging.begin(folder, placement)
    files = FrameFiles(str(folder), placement)
    for at, raw in enumerate(raw_frames(placement, packs)):
        files.write(at, raw)
    return files


def names(folder: Path) -> set[str]:
    """Paths of everything that is not a folder."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }


def test_begin_tells_whether_there_is_work_to_resume(tmp_path: Path) -> None:
    placement, _ = placed(CONTENTS)
    assert not staging.begin(tmp_path / "s", placement)
    (tmp_path / "s" / "b" / "c").write_bytes(b"y")
    assert staging.begin(tmp_path / "s", placement)
    assert (tmp_path / "s" / "b" / "c").read_bytes() == b"y"
    assert (tmp_path / "s" / "z" / "z").is_dir()


def test_complete_makes_the_tree_read_only(tmp_path: Path) -> None:
    files = filled(tmp_path)
    signature = staging.complete(files)
    assert names(tmp_path) == set(CONTENTS)
    for path, content in CONTENTS.items():
        assert (tmp_path / path).read_bytes() == content
        assert os.stat(tmp_path / path).st_mode & 0o222 == 0
    assert signature == signature_of(tmp_path)
    assert (signature.files, signature.bytes) == (5, sum(map(len, CONTENTS.values())))


def test_T47_what_does_not_belong_is_removed(tmp_path: Path) -> None:
    files = filled(tmp_path)
    (tmp_path / "stranger").write_bytes(b"?")
    (tmp_path / "b" / ".hidden").write_bytes(b"?")
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "file").write_bytes(b"?")
    staging.complete(files)
    assert names(tmp_path) == set(CONTENTS)


@pytest.mark.parametrize("damage", ["missing", "short", "long"])
def test_T4_a_folder_that_is_not_the_tree_is_never_complete(tmp_path: Path, damage: str) -> None:
    files = filled(tmp_path)
    path = tmp_path / "a"
    if damage == "missing":
        path.unlink()
    else:
        os.truncate(path, 100 if damage == "short" else 200)
    with pytest.raises(IntegrityError):
        staging.complete(files)


def test_T32_a_file_shared_with_another_version_is_cut_loose(tmp_path: Path) -> None:
    files = filled(tmp_path / "s")
    os.link(tmp_path / "s" / "a", tmp_path / "other")
    changed = next(iter(files.frames_of(0)))
    again = staging.detach(files, {changed})
    assert again == files.frames_of(0)
    assert not (tmp_path / "s" / "a").exists()
    assert (tmp_path / "other").read_bytes() == CONTENTS["a"]
    everything = set(range(len(files.placement.frames)))
    assert staging.detach(files, everything) == everything  # nothing more to free


def test_what_is_freed_frees_the_shared_files_its_frames_reach(tmp_path: Path) -> None:
    """`a` is in frames 0 and 1, `c` in 1 alone: writing 1 again must not write through `c`."""
    first, second = (Frame(0, 100 * at, 100, 100, RAW, bytes(32)) for at in range(2))
    builder = PlacementBuilder([Pack("packs/aa/bb", 200)], [first, second])
    digest = Digest(bytes(32))
    builder.file(FileEntry("a", 150, digest), [Slice(0, 0, 100), Slice(1, 0, 50)])
    builder.file(FileEntry("c", 50, digest), [Slice(1, 50, 50)])
    files = FrameFiles(str(tmp_path / "s"), builder.build())
    (tmp_path / "s").mkdir()
    for name in ("a", "c"):
        (tmp_path / "s" / name).write_bytes(name.encode())
        os.link(tmp_path / "s" / name, tmp_path / f"other-{name}")
    assert staging.detach(files, {0}) == {0, 1}
    assert names(tmp_path / "s") == set()
    assert (tmp_path / "other-c").read_bytes() == b"c"


def receipt_of(files: FrameFiles) -> Receipt:
    """The receipt of a complete staging folder."""
    signature = staging.complete(files)
    facts = ("alpaca", "v1", TREE, "placements/aa/bb")
    return Receipt(*facts, signature.files, signature.bytes, "file:///r", "now", signature)


def test_publish_shows_the_version_with_receipt_and_placement(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    files = filled(folders.staging(TREE))
    receipt = receipt_of(files)
    target = staging.publish(folders, folders.staging(TREE), receipt, b"placement")
    assert not folders.staging(TREE).exists()
    assert names(target) == set(CONTENTS)
    found = find(folders, "alpaca", "v1")
    assert found is not None
    assert found.receipt == receipt
    assert found.is_intact()
    assert folders.placement("alpaca", "v1").read_bytes() == b"placement"


def test_T44_a_small_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "receipt.json"
    staging.write_whole(path, b"one")
    staging.write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        staging.write_whole(path, b"three")
    assert os.listdir(tmp_path) == ["receipt.json"]


def test_discard_removes_what_is_there_and_nothing_else(tmp_path: Path) -> None:
    files = filled(tmp_path / "s")
    staging.complete(files)
    (tmp_path / "kept").mkdir()
    staging.discard(tmp_path / "s")
    staging.discard(tmp_path / "s")
    assert os.listdir(tmp_path) == ["kept"]


def test_T19_a_leftover_file_where_a_folder_must_be_does_not_stop_the_next_run(
    tmp_path: Path,
) -> None:
    (tmp_path / "b").write_bytes(b"?")
    files = filled(tmp_path)
    staging.complete(files)
    assert names(tmp_path) == set(CONTENTS)


def test_T26_a_leftover_link_where_a_folder_must_be_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "b").symlink_to(tmp_path / "outside")
    files = filled(tmp_path / "s")
    assert os.listdir(tmp_path / "outside") == []
    staging.complete(files)


@pytest.mark.parametrize("what", ["long", "folder", "link", "pipe", "hard link", "empty but long"])
def test_T15_what_cannot_be_a_file_of_the_tree_does_not_stop_the_next_run(
    tmp_path: Path, what: str
) -> None:
    """No frame is written over what is too long or no file: nothing would shorten it."""
    outside = tmp_path / "outside"
    outside.write_bytes(b"precious" * 100)
    files = filled(tmp_path / "s")
    place = tmp_path / "s" / ("b/empty" if what == "empty but long" else "a")
    place.unlink(missing_ok=True)
    if what == "folder":
        place.mkdir()
        (place / "more").touch()
    elif what == "link":
        place.symlink_to(outside)
    elif what == "pipe":
        os.mkfifo(place)
    elif what == "hard link":
        os.link(outside, place)
    else:
        place.write_bytes(b"x" * 151)
    assert staging.begin(tmp_path / "s", files.placement)
    assert not os.path.lexists(place)
    for frame, raw in enumerate(raw_frames(*placed(CONTENTS))):
        files.write(frame, raw)
    staging.complete(files)
    assert (tmp_path / "s" / "a").read_bytes() == CONTENTS["a"]
    assert outside.read_bytes() == b"precious" * 100


def test_begin_keeps_what_may_be_right(tmp_path: Path) -> None:
    files = filled(tmp_path)
    os.truncate(tmp_path / "a", 10)
    assert staging.begin(tmp_path, files.placement)
    assert (tmp_path / "a").read_bytes() == CONTENTS["a"][:10]
    assert (tmp_path / "z/z/z").read_bytes() == CONTENTS["z/z/z"]


def test_an_empty_version_is_a_version(tmp_path: Path) -> None:
    nothing: Placement = placed({})[0]
    staging.begin(tmp_path / "s", nothing)
    assert staging.complete(FrameFiles(str(tmp_path / "s"), nothing)).files == 0
