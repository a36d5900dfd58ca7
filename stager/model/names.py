"""Names and references: what users type.

    alpaca            dataset, at its latest version
    team/alpaca@v3    numbered version
    alpaca@cleaned    a label or a tag
    alpaca@latest     the same as no version at all

A dataset name has one to four segments of lower-case letters, digits, `.`, `_` and `-`,
each beginning with a letter or digit. The segments `versions`, `removed`, `verified` and
`tags` are taken: they are folders of the layout in the bucket.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import NamedTuple

from stager.errors import UsageError

LATEST = "latest"
RESERVED_SEGMENTS = frozenset({"versions", "tags", "verified", "removed"})
MAX_SEGMENTS = 4

_SEGMENT = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
MAX_NAME = 200
CACHE_SUFFIXES = (".json", ".placement", ".pin")  # of files beside a version's folder

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_NUMBERED = re.compile(r"v([1-9][0-9]{0,8})")


class Reference(NamedTuple):
    """A dataset and, where one was named, a version label or tag of it."""

    name: str
    selector: str | None = None

    def __str__(self) -> str:
        return self.name if self.selector is None else f"{self.name}@{self.selector}"

    @property
    def is_latest(self) -> bool:
        """Whether the newest version is meant rather than a given one."""
        return self.selector in (None, LATEST)

    def at(self, version: str) -> Reference:
        """The same dataset at `version`."""
        return Reference(self.name, version)


def parse_reference(text: str) -> Reference:
    """The reference in `text`; UsageError says which rule it breaks."""
    name, mark, selector = text.partition("@")
    check_name(name)
    if not mark:
        return Reference(name)
    check_label(selector)
    return Reference(name, selector)


def check_name(name: str) -> None:
    """UsageError unless `name` is a dataset name."""
    segments = name.split("/")
    reason = ""
    if len(name) > MAX_NAME:
        reason = f"longer than {MAX_NAME} characters"
    if len(segments) > MAX_SEGMENTS:
        reason = f"more than {MAX_SEGMENTS} segments"
    for segment in segments:
        if not _SEGMENT.fullmatch(segment):
            reason = (
                f"segment {segment!r}: use lower-case letters, digits, '.', '_' and '-', "
                "beginning with a letter or digit"
            )
        elif segment in RESERVED_SEGMENTS:
            reason = f"segment {segment!r} is reserved"
    if reason:
        raise UsageError(reason=f"{name!r} is not a dataset name: {reason}")


def check_label(label: str) -> None:
    """UsageError unless `label` can name a version or a tag."""
    if label.endswith(CACHE_SUFFIXES):
        raise UsageError(reason=f"{label!r} is not a version or tag: that ending is taken")
    if not _LABEL.fullmatch(label):
        raise UsageError(
            reason=f"{label!r} is not a version or tag: use letters, digits, '.', '_' and '-'"
        )


def version_number(label: str) -> int | None:
    """3 for `v3`, None for a label that is not numbered."""
    match = _NUMBERED.fullmatch(label)
    return int(match[1]) if match else None


def numbered(number: int) -> str:
    """`v3` for 3."""
    return f"v{number}"


def nearest(wanted: str, known: Iterable[str]) -> str:
    """A sentence that names what the user may have meant, or nothing."""
    close = difflib.get_close_matches(wanted, list(known), n=3, cutoff=0.4)
    return f"; did you mean {', '.join(close)}?" if close else ""
