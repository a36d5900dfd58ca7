"""What finding known records costs: a process of its own, for its clock and its memory.

    python -m benchmarks.matching BASE EDIT
    python -m benchmarks.matching --units COUNT

Prints a JSON object. With two files: bytes of EDIT, and the seconds of processor time that
hashing its records, making the table of BASE's and looking the ones up in the other take.
The files are in memory before the clock starts. With a count: bytes of memory for each unit
of a table of so many made-up ones, `peak` while it is made and `kept` afterwards.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from stager.model.record_table import Chunk, RecordTable
from stager.model.records import Units, units
from stager.packs import source

CHUNK_UNITS = 10_000
UNIT_BYTES = 1000
T = TypeVar("T")


def seconds(base: Path, edit: Path) -> dict[str, float]:
    """Processor time of each step, and what was found."""
    before, after = list(_records(base)), list(_records(edit))
    _clocked(lambda: RecordTable(iter(())))  # numpy is loaded
    known = [units(block) for block in before]
    hashing, wanted = _clocked(lambda: [units(block) for block in after])
    building, table = _clocked(lambda: RecordTable(_chunks(known)))
    matching, spans = _clocked(lambda: [list(table.match(each)) for each in wanted])
    return {
        "raw": sum(map(len, after)),
        "found": sum(span.length for each in spans for span in each),
        "hashing": hashing,
        "building": building,
        "matching": matching,
    }


def memory(count: int) -> dict[str, float]:
    """Bytes a unit that making a table adds to this process."""
    RecordTable(iter((Chunk(0, _made_up(random.Random(0), 2)),)))
    peak, kept = _peak(), _resident()
    table = RecordTable(_made_up_chunks(count))
    assert not table.is_empty
    return {"peak": (_peak() - peak) / count, "kept": (_resident() - kept) / count}


def _records(path: Path) -> Iterator[bytes]:
    (file,) = source.scan(path).files
    return source.records(file)


def _chunks(known: list[Units]) -> Iterator[Chunk]:
    address = 0
    for each in known:
        yield Chunk(address, each)
        address += sum(each.lengths)


def _made_up_chunks(count: int) -> Iterator[Chunk]:
    rng = random.Random(0)
    for start in range(0, count, CHUNK_UNITS):
        yield Chunk(start * UNIT_BYTES, _made_up(rng, min(CHUNK_UNITS, count - start)))


def _made_up(rng: random.Random, count: int) -> Units:
    return Units(array("Q", rng.randbytes(8 * count)), array("I", [UNIT_BYTES]) * count)


def _clocked(work: Callable[[], T]) -> tuple[float, T]:
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def main(arguments: list[str]) -> None:
    """Print one of the two."""
    if arguments[0] == "--units":
        print(json.dumps(memory(int(arguments[1]))))
    else:
        print(json.dumps(seconds(*map(Path, arguments))))


if __name__ == "__main__":
    main(sys.argv[1:])
