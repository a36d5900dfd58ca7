"""Spans of staged files copied into files in the making.

copy_file_range(2): inside the kernel, and shared rather than copied where the file system
can and the span is aligned. Where that is refused, read and written.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from stager.cache.frame_files import IN_WORK, create

BLOCK_BYTES = 8 * 1024 * 1024
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Span(NamedTuple):
    """`length` bytes at `offset` of the file at `source`, for `position` of a target file."""

    source: str
    offset: int
    file: int
    position: int
    length: int


def merged(spans: Iterable[Span]) -> list[Span]:
    """In the order of the targets; neighbours on both sides made one."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.file, span.position)):
        last = found[-1] if found else None
        if last is not None and _continues(last, span):
            found[-1] = last._replace(length=last.length + span.length)
        else:
            found.append(span)
    return found


def batches(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """Spans of one target and one source, in portions that threads can share."""
    for _, related in groupby(spans, key=lambda span: (span.file, span.source)):
        batch: list[Span] = []
        size = 0
        for span in related:
            batch.append(span)
            size += span.length
            if size >= BLOCK_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch


def copy(batch: list[Span], target: str) -> None:
    """Copies a batch into `target`; a source that vanished, ends early or fails leaves a gap.

    Nothing is believed of the result: the caller compares the target's digest.
    """
    try:
        source = os.open(batch[0].source, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        descriptor = create(target, IN_WORK)
        try:
            for span in batch:
                _copy_span(source, descriptor, span)
        finally:
            os.close(descriptor)
    finally:
        os.close(source)


def _continues(last: Span, span: Span) -> bool:
    return (
        last.source == span.source
        and last.file == span.file
        and last.offset + last.length == span.offset
        and last.position + last.length == span.position
    )


def _copy_span(source: int, target: int, span: Span) -> None:
    offset, position, left = span.offset, span.position, span.length
    while left:
        count = _copy_some(source, target, left, offset, position)
        if not count:
            return
        offset, position, left = offset + count, position + count, left - count


def _copy_some(source: int, target: int, count: int, offset: int, position: int) -> int:
    try:
        return os.copy_file_range(source, target, count, offset, position)
    except OSError as problem:  # another file system, none that can, a sandbox, a bad source
        if problem.errno in _FULL:
            raise
    try:
        part = os.pread(source, min(count, BLOCK_BYTES), offset)
    except OSError:
        return 0
    return os.pwrite(target, part, position) if part else 0
