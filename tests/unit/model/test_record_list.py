"""model/record_list.py: the lines of a file by hash and offset, however its blocks fall."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from stager.model.record_list import RecordList, list_records

texts = st.lists(st.sampled_from([b"", b"a", b"b\r", b'{"x":1}', "\u2028".encode()]), max_size=12)
cuts = st.lists(st.integers(0, 80), max_size=6)


def listed(data: bytes, at: list[int] | None = None) -> RecordList:
    """The records of `data`, given in blocks that end at these offsets."""
    ends = sorted({0, len(data), *(cut for cut in at or [] if cut < len(data))})
    found = list_records(data[one:other] for one, other in pairwise(ends))
    assert found is not None
    return found


def records(data: bytes) -> list[bytes]:
    """What the list should be of: lines with their newline."""
    return [line for line in data.replace(b"\n", b"\n\0").split(b"\0") if line]


@given(texts, st.sampled_from([b"", b"\n"]), cuts)
def test_offsets_are_those_of_the_lines(lines: list[bytes], end: bytes, at: list[int]) -> None:
    data = b"\n".join(lines) + end
    found = listed(data, at)
    spans = [found.span(number) for number in range(len(found))]
    assert [data[start : start + length] for start, length in spans] == records(data)
    assert len(found.hashes) == 16 * len(found)


@given(texts, st.sampled_from([b"", b"\n"]), cuts)
def test_blocks_do_not_matter(lines: list[bytes], end: bytes, at: list[int]) -> None:
    data = b"\n".join(lines) + end
    assert listed(data, at) == listed(data)


@given(texts, st.sampled_from([b"", b"\n"]), cuts)
def test_hashes_are_equal_where_records_are(lines: list[bytes], end: bytes, at: list[int]) -> None:
    data = b"\n".join(lines) + end
    table = [tuple(row) for row in listed(data, at).table().tolist()]
    both = set(zip(table, records(data), strict=True))
    assert len(both) == len(set(table)) == len(set(records(data)))


def test_a_record_without_newline_is_another_record() -> None:
    assert listed(b"a").hashes != listed(b"a\n").hashes


def test_a_record_of_many_blocks_is_one_record() -> None:
    long = b"x" * 1000
    assert listed(long + b"\n", list(range(0, 1000, 7))) == listed(long + b"\n")
    assert listed(long, list(range(0, 1000, 7))) == listed(long)


def test_nothing_holds_no_record() -> None:
    assert len(listed(b"")) == 0
    assert listed(b"").table().shape == (0, 2)


def test_a_file_with_a_nul_byte_is_no_text() -> None:
    assert list_records(iter([b"text\n", b"and\0more\n"])) is None
