"""The records of a file as a list: what each one is, and where it ends.

A record is known by its xxh3-128, and two that collide count as equal. Chance does not bring
that about; who does it on purpose deceives a reader of differences, and never a version.
The hash is of the record without its newline. Of a last record that has none the hash is
hashed once more: it is not the same bytes. Lists are compared, never stored.

Memory: 24 bytes a record (16 of hash, 8 of offset) and the blocks being read; no text is kept.
numpy is imported when records are listed, and only then.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xxhash import xxh3_128, xxh3_128_digest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(slots=True)
class RecordList:
    """Hashes back to back in order, and the offset at which each record ends."""

    hashes: bytearray = field(default_factory=bytearray)
    ends: array[int] = field(default_factory=lambda: array("Q"))

    def __len__(self) -> int:
        return len(self.ends)

    def table(self) -> NDArray[np.uint64]:
        """The hashes as two columns of 64 bits, one row a record; a view, not a copy."""
        import numpy

        return numpy.frombuffer(self.hashes, dtype=numpy.uint64).reshape(-1, 2)

    def span(self, at: int) -> tuple[int, int]:
        """Offset and length in bytes of the record at this index, its newline included."""
        start = self.ends[at - 1] if at else 0
        return start, self.ends[at] - start


def list_records(blocks: Iterable[bytes]) -> RecordList | None:
    """The records of a file given in blocks, None when it holds a NUL byte and so is no text.

    A block may end inside a record.
    """
    listing = _Listing()
    for block in blocks:
        if b"\0" in block:
            return None
        listing.add(block)
    listing.finish()
    return listing.records


class _Listing:
    def __init__(self) -> None:
        import numpy

        self._np: Any = numpy
        self.records = RecordList()
        self._position = 0
        self._begun: xxh3_128 | None = None  # a record whose end has not come

    def add(self, block: bytes) -> None:
        """The next bytes of the file."""
        lines = block.split(b"\n")
        rest = lines.pop()
        if lines:
            self._add_ends(lines)
            hashed = list(map(xxh3_128_digest, lines))
            if self._begun is not None:
                self._begun.update(lines[0])
                hashed[0] = self._begun.digest()
                self._begun = None
            self.records.hashes += b"".join(hashed)
        if rest:
            self._begun = self._begun or xxh3_128()
            self._begun.update(rest)
        self._position += len(block)

    def finish(self) -> None:
        """The file ends here."""
        if self._begun is not None:
            self.records.hashes += xxh3_128_digest(self._begun.digest())
            self.records.ends.append(self._position)

    def _add_ends(self, lines: list[bytes]) -> None:
        np, count = self._np, len(lines)
        ends = np.fromiter(map(len, lines), dtype=np.uint64, count=count)
        np.cumsum(ends, out=ends)
        ends += np.arange(1, count + 1, dtype=np.uint64) + np.uint64(self._position)
        self.records.ends.frombytes(ends.tobytes())
