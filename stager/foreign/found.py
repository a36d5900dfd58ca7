"""Files that another tool keeps, as it describes them; nothing here was checked yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from stager.errors import UsageError
from stager.model import paths


class ForeignFile(NamedTuple):
    """A file of the version to be: its path there, and where its bytes are now.

    `location` is a path on this node; where it is empty, `key` says what to bring here: the
    key below a DVC remote, or the id of a Git blob. `size` is -1 where nobody says it.
    `algorithm` and `expected` make a Promise; both are empty where there is none.
    """

    path: str
    location: str = ""
    key: str = ""
    size: int = -1
    algorithm: str = ""
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """All files of an import, and the offenders, which are told together with later ones."""

    files: tuple[ForeignFile, ...]
    provenance: Mapping[str, str]
    findings: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=())


def path_inside(text: str) -> str:
    """PATH as the user typed it, from the repository's root and without ornaments.

    Empty for the root itself; UsageError for a path that leaves it.
    """
    path = text.removeprefix("./").rstrip("/")
    if path in ("", "."):
        return ""
    if findings := paths.offences([path]):
        raise UsageError(reason=f"no path inside a repository: {findings[0]}")
    return path
