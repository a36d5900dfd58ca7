"""The signature of a folder, by stat alone: about 2 microseconds a file."""

from __future__ import annotations

import os
import stat
from collections.abc import Container

from stager.model.receipt import Signature

READ_ONLY = 0o444
WRITABLE = 0o222


def signature_of(folder: str | os.PathLike[str]) -> Signature:
    """Counts, sizes and modification times of everything below `folder`.

    What is not a regular file counts as a file of size 0, so it breaks the sums.
    """
    return _walk(os.fspath(folder), None)


def cleared_signature(folder: str, expected: Container[str]) -> Signature:
    """As signature_of, after removing whatever is not a regular file at an expected path.

    What stays is made read-only.
    """
    return _walk(folder, expected)


def _walk(root: str, expected: Container[str] | None) -> Signature:
    files = total = newest = 0
    oldest = 2**63 - 1
    pending = [root]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                facts = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(facts.st_mode):
                    pending.append(entry.path)
                    continue
                regular = stat.S_ISREG(facts.st_mode)
                path = entry.path[len(root) + 1 :]
                if expected is not None and not (regular and path in expected):
                    os.unlink(entry.path)
                    continue
                if expected is not None and facts.st_mode & WRITABLE:
                    os.chmod(entry.path, READ_ONLY)
                files += 1
                total += facts.st_size if regular else 0
                newest = max(newest, facts.st_mtime_ns)
                oldest = min(oldest, facts.st_mtime_ns)
    return Signature(files, total, oldest if files else 0, newest)
