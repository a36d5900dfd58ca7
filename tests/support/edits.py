"""Small folders of records, and what people do to them; everything is drawn from `rng`."""

from __future__ import annotations

import random
from collections.abc import Callable

Files = dict[str, bytes]  # by path

KiB = 1024


def record(rng: random.Random) -> bytes:
    """One line: empty, short, middling or 5 KiB; sometimes with CRLF."""
    length = rng.choice([0, 3, 40, 90, 200, 600, 5 * KiB])
    letters = rng.choice([b"a", b"abcdefghijklmnop", bytes(range(32, 127))])
    return bytes(rng.choices(letters, k=length)) + rng.choice([b"\n", b"\n", b"\n", b"\r\n"])


def new_file(rng: random.Random, pool: list[bytes]) -> bytes:
    """Records of the pool and new ones, the last perhaps cut short; or binary, or nothing."""
    kind = rng.random()
    if kind < 0.15:
        return rng.randbytes(rng.choice([0, 1, 500, 9 * KiB]))
    count = rng.choice([1, 8, 40])
    lines = [rng.choice(pool) if rng.random() < 0.4 else record(rng) for _ in range(count)]
    return b"".join(lines) + rng.choice([b"", b"", b"no newline at the end"])


def edited(files: Files, rng: random.Random, pool: list[bytes]) -> Files:
    """A copy after one edit, of the records of a file or of files."""
    name, other = rng.choice(sorted(files)), rng.choice(sorted(files))
    if rng.random() < 0.6:
        lines = files[name].splitlines(keepends=True)
        start, end = sorted((rng.randint(0, len(lines)), rng.randint(0, len(lines))))
        changed = rng.choice(LINE_EDITS)(lines[start:end], rng)
        return files | {name: b"".join(lines[:start] + changed + lines[end:])}
    if rng.random() < 0.2:
        return files | {f"new-{rng.randint(0, 9)}": new_file(rng, pool)}
    return rng.choice(FILE_EDITS)(dict(files), name, other, rng)


def _inserted(run: list[bytes], rng: random.Random) -> list[bytes]:
    return [*run, *(record(rng) for _ in range(rng.randint(1, 3)))]


def _shuffled(run: list[bytes], rng: random.Random) -> list[bytes]:
    return rng.sample(run, len(run))


def _bit_flipped(run: list[bytes], rng: random.Random) -> list[bytes]:
    data = bytearray(b"".join(run) or b"x")
    data[rng.randrange(len(data))] ^= 1
    return [bytes(data)]


LINE_EDITS: list[Callable[[list[bytes], random.Random], list[bytes]]] = [
    _inserted,
    _inserted,
    lambda run, rng: [],
    lambda run, rng: run + run,
    _shuffled,
    _bit_flipped,
]


def _moved(files: Files, name: str, other: str, rng: random.Random) -> Files:
    """The second half of one file goes to the front of another."""
    lines = files[name].splitlines(keepends=True)
    middle = len(lines) // 2
    files[name] = b"".join(lines[:middle])
    files[other] = b"".join(lines[middle:]) + files[other]
    return files


def _joined(files: Files, name: str, other: str, rng: random.Random) -> Files:
    return files | {name: files[name] + files[other]}


def _swapped(files: Files, name: str, other: str, rng: random.Random) -> Files:
    return files | {name: files[other], other: files[name]}


def _renamed(files: Files, name: str, other: str, rng: random.Random) -> Files:
    data = files.pop(name)
    return files | {f"{rng.choice('amz')}/{rng.randint(0, 99)}": data}


def _cut_short(files: Files, name: str, other: str, rng: random.Random) -> Files:
    return files | {name: files[name][: rng.randint(0, len(files[name]))]}


FILE_EDITS = [_moved, _joined, _swapped, _renamed, _cut_short]
