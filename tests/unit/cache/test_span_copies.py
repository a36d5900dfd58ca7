"""cache/span_copies.py: bytes of staged files for files in the making."""

from __future__ import annotations

import errno
import os
import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.cache import span_copies
from stager.cache.span_copies import Span, batches, copy, merged

CONTENT = random.Random(3).randbytes(50_000)
FALLBACKS = ["EXDEV", "EINVAL", "ENOSYS", "EOPNOTSUPP", "EPERM", "EIO", "ETXTBSY"]

Bytes = dict[tuple[int, int], tuple[str, int]]  # (file, position) -> (source, offset)


@pytest.fixture
def source(tmp_path: Path) -> str:
    """A staged file."""
    path = tmp_path / "source"
    path.write_bytes(CONTENT)
    path.chmod(0o444)
    return str(path)


@st.composite
def layouts(draw: st.DrawFn) -> list[Span]:
    """Spans that do not overlap in their targets, in any order; many touch on both sides."""
    spans = []
    for file in range(draw(st.integers(1, 3))):
        position, offset, source = 0, 0, "a"
        for _ in range(draw(st.integers(0, 6))):
            length = draw(st.integers(1, 9))
            position += draw(st.sampled_from([0, 0, 0, 2]))
            offset = draw(st.sampled_from([offset, offset, offset, 50]))
            source = draw(st.sampled_from([source, source, "a", "b"]))
            spans.append(Span(source, offset, file, position, length))
            position, offset = position + length, offset + length
    return draw(st.permutations(spans))


def bytes_of(spans: list[Span]) -> Bytes:
    """What goes where, a byte at a time."""
    found: Bytes = {}
    for source, offset, file, position, length in spans:
        for at in range(length):
            assert (file, position + at) not in found
            found[file, position + at] = (source, offset + at)
    return found


@given(layouts())
def test_merging_moves_no_byte_and_leaves_no_neighbours(spans: list[Span]) -> None:
    found = merged(spans)
    assert bytes_of(found) == bytes_of(spans)
    assert found == sorted(found, key=lambda span: (span.file, span.position))
    assert merged(found) == found
    for one, two in pairwise(found):
        assert (
            one.file != two.file
            or one.source != two.source
            or one.position + one.length != two.position
            or one.offset + one.length != two.offset
        )


@given(layouts(), st.integers(1, 12))
def test_batches_are_the_spans_in_portions_of_one_target_and_source(
    spans: list[Span], portion: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(span_copies, "BLOCK_BYTES", portion)
        found = list(batches(spans))
    assert [span for batch in found for span in batch] == spans
    for batch in found:
        assert len({(span.file, span.source) for span in batch}) == 1
        assert sum(span.length for span in batch[:-1]) < portion


def spans_of(source: str) -> list[Span]:
    """Two spans of a target file, the second in front of the first."""
    return [Span(source, 10_000, 0, 30_000, 20_000), Span(source, 0, 0, 5, 100)]


def test_spans_come_where_they_belong_and_touch_nothing_else(tmp_path: Path, source: str) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"." * 60_000)
    copy(spans_of(source), str(target))
    expected = bytearray(b"." * 60_000)
    expected[30_000:50_000] = CONTENT[10_000:30_000]
    expected[5:105] = CONTENT[:100]
    assert target.read_bytes() == expected


@pytest.mark.parametrize("reason", FALLBACKS)
def test_where_the_kernel_cannot_it_is_read_and_written(
    tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(getattr(errno, reason), "by script")

    monkeypatch.setattr(os, "copy_file_range", refuse)
    monkeypatch.setattr(span_copies, "BLOCK_BYTES", 999)
    target = tmp_path / "target"
    copy([Span(source, 0, 0, 0, len(CONTENT))], str(target))
    assert target.read_bytes() == CONTENT


def test_a_copy_in_many_steps_is_the_same(
    tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, steps = os.copy_file_range, [0]

    def a_little(one: int, two: int, count: int, offset: int, position: int) -> int:
        steps[0] += 1
        if steps[0] % 3 == 0:
            raise OSError(errno.EXDEV, "every third time")
        return real(one, two, min(count, 700), offset, position)

    monkeypatch.setattr(os, "copy_file_range", a_little)
    monkeypatch.setattr(span_copies, "BLOCK_BYTES", 333)
    copy([Span(source, 7, 0, 3, 40_000)], str(tmp_path / "target"))
    assert (tmp_path / "target").read_bytes() == bytes(3) + CONTENT[7:40_007]


@pytest.mark.parametrize("reason", ["ENOSPC", "EDQUOT"])
def test_a_full_disk_is_not_hidden(
    tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(getattr(errno, reason), "by script")

    monkeypatch.setattr(os, "copy_file_range", refuse)
    with pytest.raises(OSError, match="by script"):
        copy(spans_of(source), str(tmp_path / "target"))


@pytest.mark.parametrize("what", ["vanished", "link", "folder"])
def test_T32_a_source_that_is_no_file_any_more_leaves_a_gap(
    tmp_path: Path, source: str, what: str
) -> None:
    os.rename(source, tmp_path / "moved")
    if what == "link":
        os.symlink(tmp_path / "moved", source)
    elif what == "folder":
        os.mkdir(source)
    target = tmp_path / "target"
    target.write_bytes(b"as it was")
    copy(spans_of(source), str(target))
    assert target.read_bytes() == b"as it was"


@pytest.mark.parametrize("left", [0, 10_000, 10_001, 29_999])
def test_T32_a_source_that_ends_early_gives_what_it_has(
    tmp_path: Path, source: str, left: int
) -> None:
    os.chmod(source, 0o644)
    os.truncate(source, left)
    target = tmp_path / "target"
    copy(spans_of(source), str(target))
    there = CONTENT[10_000:left]
    assert target.read_bytes()[30_000 : 30_000 + len(there)] == there
    assert target.read_bytes()[30_000 + len(there) :] == b""


def test_T26_a_link_in_the_place_of_the_target_is_not_written_through(
    tmp_path: Path, source: str
) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"precious")
    (tmp_path / "target").symlink_to(outside)
    copy(spans_of(source), str(tmp_path / "target"))
    assert outside.read_bytes() == b"precious"
    assert (tmp_path / "target").read_bytes()[5:105] == CONTENT[:100]


def test_no_descriptor_stays_open(tmp_path: Path, source: str) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        copy(spans_of(source), str(tmp_path / "target"))
        copy(spans_of(str(tmp_path / "nothing")), str(tmp_path / "target"))
    with pytest.raises(OSError, match="No such"):
        copy(spans_of(source), str(tmp_path / "no folder" / "target"))
    assert len(os.listdir("/proc/self/fd")) == before
