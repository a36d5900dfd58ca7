"""Rules for the paths inside a version.

Two strictnesses. What a version may contain when it is made (`offences`): every path that
would break, merge or escape on some file system is named. What a node accepts from a
bucket (`first_unsafe`): only what could leave the root or hit another entry, fast enough
for a million paths.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

MAX_SEGMENT_BYTES = 255
MAX_PATH_BYTES = 4096
MAX_DEPTH = 128  # folders a path may lie in

_UNSAFE = re.compile(r"(?:\A|[/\0])\.{0,2}(?:[/\0]|\Z)|\\")


def offences(paths: Sequence[str]) -> list[str]:
    """One finding per path that cannot be part of a version, in the order given."""
    findings = [f"{path!r}: {why}" for path in paths if (why := _offence(path))]
    findings += [
        f"{shorter!r} is a file and also a folder of {longer!r}"
        for shorter, longer in file_as_folder(paths)
    ]
    folded = {_folded(path): path for path in paths}
    findings += [
        f"{folded[shorter]!r} is a file, and a folder of {folded[longer]!r} where case is folded"
        for shorter, longer in file_as_folder(list(folded))
        if not folded[longer].startswith(folded[shorter] + "/")
    ]
    findings += [
        f"{first!r} and {second!r} are one name on file systems that fold case or normalise"
        for first, second in _folded_twins(paths)
    ]
    return findings


def first_unsafe(paths: Iterable[str]) -> str | None:
    """The first path that could leave its root or cannot be a file name, or None."""
    known = list(paths)
    longest = max(map(len, known), default=0)
    joined = "\0".join(known)
    hidden = joined.count("\0") - len(known) + 1  # a NUL inside a path
    if not _UNSAFE.search(joined) and longest * 4 <= MAX_SEGMENT_BYTES and hidden <= 0:
        return None
    for path in known:
        if "\0" in path or _UNSAFE.search(path) or _too_long(path):
            return path
    return None


def folders(paths: Iterable[str]) -> set[str]:
    """Every folder that some path lies in, without the root."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def file_as_folder(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs (file, path below it): `a` beside `a/b`."""
    known = set(paths)
    for clash in sorted(folders(paths) & known):
        yield clash, next(path for path in paths if path.startswith(clash + "/"))


def _offence(path: str) -> str:
    if any(0xD800 <= ord(char) <= 0xDFFF for char in path):
        return "the name is not UTF-8"
    if path.startswith("/"):
        return "absolute path"
    if path.endswith("/"):
        return "ends with '/'"
    if "\\" in path:
        return "contains a backslash"
    if "\0" in path:
        return "contains NUL"
    segments = path.split("/")
    if "" in segments:
        return "empty segment"
    if "." in segments or ".." in segments:
        return "'.' or '..' as a segment"
    return _too_long(path)


def _too_long(path: str) -> str:
    """What of it is too long, empty when nothing is."""
    encoded = path.encode("utf-8", "surrogatepass")
    if len(encoded) > MAX_PATH_BYTES:
        return f"over {MAX_PATH_BYTES} bytes"
    segments = encoded.split(b"/")
    if len(segments) > MAX_DEPTH:
        return f"more than {MAX_DEPTH} segments"
    if any(len(segment) > MAX_SEGMENT_BYTES for segment in segments):
        return f"a segment is over {MAX_SEGMENT_BYTES} bytes"
    return ""


def _folded_twins(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    seen: dict[str, str] = {}
    for path in paths:
        first = seen.setdefault(_folded(path), path)
        if first != path:
            yield first, path


def _folded(path: str) -> str:
    """The path as a file system sees it that ignores case and normal forms."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
