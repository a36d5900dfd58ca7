"""Records: the lines of a file, and where a stream of them is cut into frames.

A record is one line with its newline. A frame ends at a record end chosen by content, so
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

from xxhash import xxh3_64_intdigest

MIN_FRAME = 1024 * 1024
MEAN_TAIL = 1024 * 1024
MAX_FRAME = 8 * 1024 * 1024
SHORTEST = 64

_COIN = 2**64 // MEAN_TAIL


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
