"""What runs that were killed left in the cache, and when it may go.

Half removed folders at once, half written files after an hour. Work in progress is kept for
STALE_SECONDS, a week, since a pull continues it; so is a version whose receipt was never
written. Nothing goes whose lock somebody holds.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stager.cache import scratch, staging
from stager.cache.folders import Folders
from stager.cache.locks import exclusive
from stager.cache.usage import Usage
from stager.errors import CacheBusy
from stager.events import ignore

STALE_SECONDS = 7 * 24 * 3600
REMOVED = "half removed"
WRITTEN = "half written"
UNFINISHED = "unfinished"
UNPROVED = "without a receipt"


class Leftover(NamedTuple):
    """Something that no version and no running pull needs."""

    path: Path
    kind: str


def find(folders: Folders, usage: Usage, versions: set[Path]) -> Iterator[Leftover]:
    """What may go of the holders in `usage`; `versions` are the folders of staged ones."""
    now = time.time()
    for holder, newest in sorted(usage.newest.items()):
        if holder in versions or holder.name.endswith(".evicted"):
            continue
        kind, patience = _kind(folders, holder)
        if kind == UNPROVED and _is_claimed(holder):
            continue
        if newest < now - patience or patience == 0:
            yield Leftover(holder, kind)


def clear(folders: Folders, leftover: Leftover) -> bool:
    """Removes it, unless somebody holds it or it became a version; whether it is gone."""
    path = leftover.path
    if leftover.kind in (REMOVED, WRITTEN):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    elif leftover.kind == UNFINISHED and path.name.startswith(scratch.PREFIX):
        scratch.sweep(path)
    elif leftover.kind == UNFINISHED:
        try:
            with exclusive(folders.lock(path.name), ignore, wait=False):
                staging.discard(path)
        except CacheBusy:
            return False
    elif not _is_claimed(path):
        staging.discard(path)
        path.with_name(f"{path.name}.placement").unlink(missing_ok=True)
    return not os.path.lexists(path)


def forget_placed(folders: Folders, dry_run: bool = False) -> list[str]:
    """Forgets destinations that have been gone for a week or longer; their paths.

    A disk that is not mounted today is no reason: what is forgotten can only be replaced
    after it was moved away by hand.
    """
    forgotten: list[str] = []
    limit = time.time() - STALE_SECONDS
    with contextlib.suppress(FileNotFoundError):
        for record in sorted((folders.root / "placed").glob("*.json")):
            path = _destination(record)
            if os.stat(record).st_mtime > limit or (path and os.path.lexists(path)):
                continue
            if not dry_run:
                record.unlink(missing_ok=True)
            forgotten.append(path or str(record))
    return forgotten


def _kind(folders: Folders, holder: Path) -> tuple[str, float]:
    """What an entry of the cache is, and for how many seconds it is left alone."""
    if holder.name.startswith("."):
        if ".removed-" in holder.name:
            return REMOVED, 0
        return WRITTEN, staging.STALE_SECONDS
    in_staging = holder.parent == folders.root / "staging"
    return UNFINISHED if in_staging else UNPROVED, STALE_SECONDS


def _is_claimed(path: Path) -> bool:
    """Whether a version has a receipt, be it one this stager cannot read, or a pin."""
    return any(path.with_name(f"{path.name}{suffix}").exists() for suffix in (".json", ".pin"))


def _destination(record: Path) -> str:
    try:
        return str(json.loads(record.read_bytes())["path"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
