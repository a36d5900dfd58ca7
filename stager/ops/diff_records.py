"""diff_records: the records in which two text files differ.

One pass lists the records of each file (model/record_list.py) and matches them; a second
reads the texts of those that differ, by their offsets, and only where somebody asked: to be
shown, or to find records of one key. Beside the lists, a key takes memory for every record
that is gone, and what is shown takes its own length, at most SHOWN_BYTES a record.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from stager.model.fields import differing, key_of
from stager.model.matching import Matching, match
from stager.model.record_list import RecordList, list_records
from stager.packs import source as sources
from stager.packs.source import SourceFile

SHOWN_BYTES = 1024 * 1024
RUN_BYTES = 1024 * 1024  # neighbouring records that are read at once

REMOVED, ADDED, REPLACED = "removed", "added", "replaced"
CHANGED, MOVED = "changed", "moved"


class RecordRequest(NamedTuple):
    """How many differing records to show of each file (None: all), and the field of the key."""

    shown: int | None = 0
    key: str = ""


class RecordRow(NamedTuple):
    """A differing record: its lines, from 1, and its text on each side where it stands.

    removed    before only
    added      after only
    replaced   one removed and one added, at the same place between the same neighbours
    changed    two records of one `key`; `fields` differ, none where only the writing does
    moved      the same record, out of the order of the others
    """

    kind: str
    line_before: int | None = None
    line_after: int | None = None
    before: str | None = None
    after: str | None = None
    key: str | None = None
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordCounts:
    """Records of two files. `same` ones kept their order; a changed one counts once."""

    removed: int = 0
    added: int = 0
    changed: int = 0
    moved: int = 0
    same: int = 0

    def plus(self, other: RecordCounts) -> RecordCounts:
        """Both together."""
        return RecordCounts(
            self.removed + other.removed,
            self.added + other.added,
            self.changed + other.changed,
            self.moved + other.moved,
            self.same + other.same,
        )


@dataclass(frozen=True, slots=True)
class RecordDiff:
    """What differs between two files, some of it shown; `keyless` records lack the key."""

    counts: RecordCounts
    fields: Mapping[str, int] = field(default_factory=dict)
    rows: tuple[RecordRow, ...] = ()
    keyless: int = 0


def compare(before: SourceFile, after: SourceFile, request: RecordRequest) -> RecordDiff | None:
    """The differences, None when a file is no text; SourceChanged when one moves meanwhile."""
    lists = []
    for file in (before, after):
        listed = list_records(sources.records(file))
        if listed is None:
            return None
        lists.append(listed)
    one, other = _Texts(before, lists[0]), _Texts(after, lists[1])
    return _Comparison(one, other, match(lists[0].table(), lists[1].table())).run(request)


class _Texts(NamedTuple):
    """A file and where its records lie."""

    file: SourceFile
    records: RecordList

    def read(self, indexes: Iterable[int]) -> Iterator[bytes]:
        """The records at these indexes, each with its newline; neighbours are read at once."""
        run: list[tuple[int, int]] = []
        for at in indexes:
            start, length = self.records.span(at)
            if run and (start != sum(run[-1]) or start - run[0][0] >= RUN_BYTES):
                yield from self._run(run)
                run = []
            run.append((start, length))
        if run:
            yield from self._run(run)

    def shown(self, at: int) -> str:
        """A record as text; what is no UTF-8 as `\\xff`, a long one cut and said to be."""
        start, length = self.records.span(at)
        data = sources.read(self.file, start, min(length, SHOWN_BYTES))
        text = data.decode(errors="backslashreplace")
        return text if len(data) == length else f"{text} ... and {length - len(data)} bytes more\n"

    def _run(self, run: list[tuple[int, int]]) -> Iterator[bytes]:
        first = run[0][0]
        data = sources.read(self.file, first, sum(run[-1]) - first)
        for start, length in run:
            yield data[start - first : start - first + length]


@dataclass(slots=True)
class _Comparison:
    before: _Texts
    after: _Texts
    matching: Matching
    fields: Counter[str] = field(default_factory=Counter)
    keyless: int = 0

    def run(self, request: RecordRequest) -> RecordDiff:
        removed, added = self.matching.removed, self.matching.added
        pairs: list[tuple[int, int]] = []
        if request.key:
            pairs = self._same_key(removed.tolist(), added.tolist(), request.key)
        counts = RecordCounts(
            removed=len(removed) - len(pairs),
            added=len(added) - len(pairs),
            changed=len(pairs),
            moved=len(self.matching.moved.before),
            same=len(self.matching.kept.before),
        )
        rows = list(self._changed(pairs, request))
        more = None if request.shown is None else max(0, request.shown - len(rows))
        rows += islice(self._rest(pairs), more)
        return RecordDiff(counts, dict(self.fields.most_common()), tuple(rows), self.keyless)

    def _same_key(self, removed: list[int], added: list[int], key: str) -> list[tuple[int, int]]:
        """Of several records with one key the first with the first, and so on."""
        waiting: dict[str, deque[int]] = {}
        for at, text in zip(removed, self.before.read(removed), strict=True):
            value = key_of(text, key)
            if value is None:
                self.keyless += 1
            else:
                waiting.setdefault(value, deque()).append(at)
        pairs = []
        for at, text in zip(added, self.after.read(added), strict=True):
            value = key_of(text, key)
            if value is None:
                self.keyless += 1
            elif waiting.get(value):
                pairs.append((waiting[value].popleft(), at))
        return pairs

    def _changed(self, pairs: list[tuple[int, int]], request: RecordRequest) -> Iterator[RecordRow]:
        """Counts the fields of all pairs, gives rows for as many as are shown."""
        given = 0
        ones = self.before.read(one for one, _ in pairs)
        others = self.after.read(other for _, other in pairs)
        for (at, there), one, other in zip(pairs, ones, others, strict=True):
            names = differing(one, other)
            self.fields.update(names)
            if request.shown is None or given < request.shown:
                given += 1
                key = key_of(other, request.key)
                texts = (self.before.shown(at), self.after.shown(there))
                yield RecordRow(CHANGED, at + 1, there + 1, *texts, key, names)

    def _rest(self, pairs: list[tuple[int, int]]) -> Iterator[RecordRow]:
        """Removed and added ones in the order of their places, then those that moved."""
        gone, come = {one for one, _ in pairs}, {other for _, other in pairs}
        removed = [at for at in self.matching.removed.tolist() if at not in gone]
        added = [at for at in self.matching.added.tolist() if at not in come]
        yield from (self._row(one, other) for one, other in self._by_place(removed, added))
        for one, other in zip(*self.matching.moved, strict=True):
            text = self.before.shown(int(one))
            yield RecordRow(MOVED, int(one) + 1, int(other) + 1, text, text)

    def _by_place(
        self, removed: list[int], added: list[int]
    ) -> Iterator[tuple[int | None, int | None]]:
        """A place lies between two records that kept their order; there they stand in pairs."""
        kept = self.matching.kept
        here = kept.before.searchsorted(removed).tolist()
        there = kept.after.searchsorted(added).tolist()
        at = to = 0
        while at < len(here) or to < len(there):
            gone = at < len(here) and (to == len(there) or here[at] <= there[to])
            come = to < len(there) and (at == len(here) or there[to] <= here[at])
            yield removed[at] if gone else None, added[to] if come else None
            at, to = at + gone, to + come

    def _row(self, one: int | None, other: int | None) -> RecordRow:
        kind = ADDED if one is None else REMOVED if other is None else REPLACED
        return RecordRow(
            kind,
            None if one is None else one + 1,
            None if other is None else other + 1,
            None if one is None else self.before.shown(one),
            None if other is None else self.after.shown(other),
        )
