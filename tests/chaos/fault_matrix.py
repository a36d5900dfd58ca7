"""The fault matrix: every fault befalls every verb, and what they may end with.

The outcomes are data, in fault_outcomes.json: of a fault that befalls one request (`once`) and
of one that befalls every request it can (`always`). A verb ends `right`, or with the exit code
of one typed error; `later` is a version of wrong bytes that every pull refuses; a fault that
does not concern a verb has no outcome.

    python -m tests.chaos.fault_matrix measure     runs all, writes fault_outcomes.json
    python -m tests.chaos.fault_matrix table       the tables of docs/faults.md
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.fault_ground import VERBS, Ground, always, fault_ground, once
from tests.support.faults import kinds
from tests.support.faults.kinds import Fault
from tests.support.s3_server import seaweedfs

OUTCOMES = Path(__file__).with_name("fault_outcomes.json")
FIRSTS = (1, 2, 4)  # the fault befalls the first, second, fourth request it can

Outcomes = dict[str, dict[str, dict[str, list[str]]]]  # by fault, verb, once or always


@dataclass(frozen=True)
class Row:
    """A fault, made anew for each trial."""

    name: str
    make: Callable[[Ground], Fault]


def _simple(fault: Callable[[], Fault]) -> Callable[[Ground], Fault]:
    return lambda _: fault()


ROWS = (
    Row("500", _simple(lambda: kinds.refused("500", 500, "InternalError"))),
    Row("503", _simple(lambda: kinds.refused("503", 503, "ServiceUnavailable"))),
    Row("503 SlowDown", _simple(lambda: kinds.refused("SlowDown", 503, "SlowDown"))),
    Row("reset in an answer", _simple(lambda: kinds.reset_download(1000))),
    Row("reset in an upload", _simple(lambda: kinds.reset_upload(100))),
    Row("stall in an answer", _simple(lambda: kinds.stalled_download(1000))),
    Row("stall in an upload", _simple(lambda: kinds.stalled_upload(100))),
    Row("no answer", _simple(kinds.silent)),
    Row("short body", _simple(kinds.short_body)),
    Row("length too long", _simple(lambda: kinds.wrong_length(5))),
    Row("length too short", _simple(lambda: kinds.wrong_length(-5))),
    Row("flipped byte", _simple(kinds.flipped_byte)),
    Row("200 for a range", lambda ground: kinds.whole_object(ground.object_at)),
    Row("206 with the whole object", lambda ground: kinds.other_range(ground.object_at)),
    Row("206 with other bytes", lambda ground: kinds.lying_range(ground.object_at)),
    Row("object replaced", lambda ground: kinds.replaced(ground.replace_object)),
    Row("expired token, 403", _simple(lambda: kinds.refused("expired", 403, "ExpiredToken"))),
    Row("expired token, 400", _simple(lambda: kinds.refused("expired", 400, "ExpiredToken"))),
    Row("clock 20 minutes off", _simple(kinds.clock_skew)),
    Row("301", _simple(lambda: kinds.redirected(301, "http://other.invalid"))),
    Row("307", _simple(lambda: kinds.redirected(307, "http://other.invalid"))),
    Row("torn listing", _simple(kinds.torn_listing)),
    Row("keys given twice", _simple(kinds.repeated_keys)),
    Row("page given twice", lambda _: kinds.Pages(endless=False).fault()),
    Row("listing without end", lambda _: kinds.Pages(endless=True).fault()),
    Row("answer lost", _simple(kinds.lost_answer)),
    Row("write lost", _simple(kinds.lying_put)),
    Row("slow link", _simple(lambda: kinds.slow(3_000_000))),
)


def struck(ground: Ground, row: Row, verb: str, firsts: tuple[int, ...] = FIRSTS) -> set[str]:
    """The outcomes of single faults."""
    found = (once(ground, verb, row.make(ground), first) for first in firsts)
    return {outcome for outcome in found if outcome}


def ruined(ground: Ground, row: Row, verb: str) -> set[str]:
    """The outcome of a fault that does not end."""
    outcome = always(ground, verb, row.make(ground))
    return {outcome} if outcome else set()


def expected() -> Outcomes:
    """What was measured and looked at."""
    return dict(json.loads(OUTCOMES.read_text()))


def measured(ground: Ground) -> Outcomes:
    """All trials; takes minutes."""
    return {
        row.name: {
            verb: {
                "once": sorted(struck(ground, row, verb)),
                "always": sorted(ruined(ground, row, verb)),
            }
            for verb in VERBS
        }
        for row in ROWS
    }


def table(kind: str) -> str:
    """A Markdown table of `once` or `always`."""
    lines = [f"| fault | {' | '.join(VERBS)} |", f"|---|{'---|' * len(VERBS)}"]
    for name, verbs in expected().items():
        cells = (", ".join(verbs[verb][kind]) or "–" for verb in VERBS)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _main(command: str) -> None:
    if command == "table":
        print(f"{table('once')}\n\n{table('always')}")
        return
    with tempfile.TemporaryDirectory() as name:
        server, folder = Path(name, "server"), Path(name, "ground")
        server.mkdir()
        folder.mkdir()
        with (
            seaweedfs(server) as running,
            fault_ground(running, running.make_bucket("matrix"), folder) as ground,
        ):
            OUTCOMES.write_text(json.dumps(measured(ground), indent=1) + "\n")


if __name__ == "__main__":
    _main(*sys.argv[1:])
