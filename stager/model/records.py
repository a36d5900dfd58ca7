"""Records: the lines of a file, where a stream of them is cut, and how they are known again.

A record is one line with its newline. What a later version may refer to is a unit: one
record, or several short ones together, so that a unit has WHOLE_UNIT bytes or more on
average and an index of units stays small. A record of that length always ends a unit, a
shorter one with a probability proportional to its length, decided by its own hash; so an
insertion moves no other unit's ends. A unit is known by its xxh3-64 and its length.

A frame ends at a record end chosen by content, so
that an insertion moves the cuts in its neighbourhood only: no cut in the first MIN_FRAME
bytes, then after each record with a probability proportional to the record's length, one
cut per MEAN_TAIL bytes on average. The coin is the record's xxh3-64, so it falls the same
way wherever the record stands. Records shorter than SHORTEST are taken together with the
next, which keeps a file of blank lines from being hashed a byte at a time. Bytes without
newlines (binary data, one endless line) are cut at MAX_FRAME.

Content-defined chunking: Muthitacharoen, Chen, Mazieres, LBFS, SOSP 2001, with records as
the window.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

MIN_FRAME = 1024 * 1024
MEAN_TAIL = 1024 * 1024
MAX_FRAME = 8 * 1024 * 1024
SHORTEST = 64
WHOLE_UNIT = 256
MAX_UNIT = 1024 * 1024
SAMPLE = 64 * 1024

_COIN = 2**64 // MEAN_TAIL
_UNIT_COIN = 2**64 // WHOLE_UNIT


class Units(NamedTuple):
    """The units of some bytes, in order: xxh3-64 (`Q`) and length in bytes (`I`) of each."""

    hashes: array[int]
    lengths: array[int]


def holds_records(data: bytes) -> bool:
    """Whether the beginning of a file looks like lines that are worth telling apart.

    No NUL byte, as in all text and no archive or image, and SHORTEST bytes a line or more.
    """
    sample = data[:SAMPLE]
    return b"\0" not in sample and sample.count(b"\n") * SHORTEST <= len(sample)


def units(data: bytes) -> Units:
    """Cuts bytes that begin and end between records; the last record may lack its newline."""
    hashes, lengths = array("Q"), array("I")
    find, view = data.find, memoryview(data)
    begin = line = 0
    while end := find(b"\n", line) + 1:
        coin, length = xxh3_64_intdigest(view[line:end]), end - line
        if length >= WHOLE_UNIT or coin < length * _UNIT_COIN or end - begin >= MAX_UNIT:
            hashes.append(coin if line == begin else xxh3_64_intdigest(view[begin:end]))
            lengths.append(end - begin)
            begin = end
        line = end
    if begin < len(data):
        hashes.append(xxh3_64_intdigest(view[begin:]))
        lengths.append(len(data) - begin)
    return Units(hashes, lengths)


def ends_frame(coin: int, length: int) -> bool:
    """Whether a frame ends after a record of `length` bytes whose 64-bit hash is `coin`."""
    return coin < length * _COIN


def next_cut(buffer: bytes, start: int, limit: int) -> int:
    """Where the frame that begins at `start` ends, at most at `limit`.

    `limit` is the end of the data or `start` + MAX_FRAME, whichever is first. The result
    depends on buffer[start:result] alone, except at the end of the data.
    """
    find = buffer.find
    end = find(b"\n", start + MIN_FRAME - 1, limit) + 1
    if end == 0:
        return limit if limit - start < MAX_FRAME else _last_record_end(buffer, start, limit)
    while end < limit:
        after = find(b"\n", end + SHORTEST - 1, limit) + 1
        if after == 0:
            return limit if limit - start < MAX_FRAME else end
        if ends_frame(xxh3_64_intdigest(buffer[end:after]), after - end):
            return after
        end = after
    return end


def _last_record_end(buffer: bytes, start: int, limit: int) -> int:
    return (buffer.rfind(b"\n", start, limit) + 1) or limit
