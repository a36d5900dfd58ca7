"""Edits that datasets see, from one folder of JSONL files into a new one.

Places and orders are random and the same in every run. All records of a file are held in
memory where they change their order.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

from tests.support import corpus

RECORD_BYTES = 1000  # about the average of what corpus.jsonl makes
EXCHANGED_SHARE = 512  # one record of so many is left out, and as many are put in
PARTS = 10


def edited(source: Path, target: Path, seed: int) -> Path:
    """1 % of the records changed, 0.2 % left out and as many put in, in every file.

    For 256 MB these are 500 of each. Returns `target`, as all functions here do.
    """
    target.mkdir()
    for path in sorted(source.iterdir()):
        count = max(1, round(path.stat().st_size / RECORD_BYTES / EXCHANGED_SHARE))
        corpus.edit_jsonl(path, target / path.name, seed, deleted=count, inserted=count)
    return target


def appended(source: Path, target: Path) -> Path:
    """1 % of new records at the end of the last file."""
    shutil.copytree(source, target)
    paths = sorted(target.iterdir())
    size = sum(path.stat().st_size for path in paths)
    with paths[-1].open("ab") as file:
        for record in corpus.records(seed=21):
            if size <= 0:
                break
            file.write(record)
            size -= 100 * len(record)
    return target


def without_one(source: Path, target: Path) -> Path:
    """The fourth of its files left out."""
    shutil.copytree(source, target)
    sorted(target.iterdir())[3].unlink()
    return target


def renamed(source: Path, target: Path) -> Path:
    """The fourth of its files under another name."""
    shutil.copytree(source, target)
    path = sorted(target.iterdir())[3]
    path.rename(path.with_name(f"renamed-{path.name}"))
    return target


def sorted_by_score(source: Path, target: Path) -> Path:
    """The records of each file in the order of their `score`, which is random."""
    return _reordered(source, target, lambda lines: sorted(lines, key=_score))


def shuffled(source: Path, target: Path) -> Path:
    """The records of each file in random order."""
    rng = random.Random(22)
    return _reordered(source, target, lambda lines: rng.sample(lines, len(lines)))


def with_repeats(source: Path, target: Path) -> Path:
    """A random tenth of the records of each file once more at its end."""
    rng = random.Random(23)
    return _reordered(
        source, target, lambda lines: [*lines, *rng.sample(lines, len(lines) // PARTS)]
    )


def split(source: Path, target: Path) -> Path:
    """Each file in ten of about as many records."""
    target.mkdir()
    for path in sorted(source.iterdir()):
        with path.open("rb") as file:
            count = sum(1 for _ in file) // PARTS + 1
            file.seek(0)
            for number in range(PARTS):
                part = target / f"{path.stem}-{number}{path.suffix}"
                with part.open("wb") as out:
                    out.writelines(islice(file, count))
    return target


def _reordered(source: Path, target: Path, order: Callable[[list[bytes]], Iterable[bytes]]) -> Path:
    target.mkdir()
    for path in sorted(source.iterdir()):
        with path.open("rb") as file:
            lines = file.readlines()
        with (target / path.name).open("wb") as out:
            out.writelines(order(lines))
    return target


def _score(line: bytes) -> float:
    return float(line.rpartition(b":")[2].rstrip(b"}\n"))
