"""The rows of the fault matrix: every fault, what it stands for, and what is expected.

`once` is what a verb may end with when the fault befalls one request, `always` when it
befalls every request it can. The columns are the verbs of fault_ground.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.chaos.fault_ground import Ground
from tests.support.faults import kinds
from tests.support.faults.kinds import Fault


@dataclass(frozen=True)
class Row:
    """A fault, made anew for each trial."""

    name: str
    make: Callable[[Ground], Fault]
    told: str = ""  # what happens, for docs/faults.md


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
