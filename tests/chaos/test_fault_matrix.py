"""Every fault of a store against every verb: right, or one typed error; never a wrong byte.

T17 T19 T20 T22 T58 to T71. `make test` tries half of the matrix with one fault at the first
request it can befall, `make chaos` all of it; docs/faults.md shows the outcomes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos import fault_matrix
from tests.chaos.fault_ground import CAUGHT, CODES, RIGHT, VERBS, Ground, fault_ground
from tests.chaos.fault_matrix import ROWS, Row, expected
from tests.support.s3_server import S3Server

DOCUMENT = Path(__file__).parents[2] / "docs/faults.md"
PAIRS = [(row, verb) for row in ROWS for verb in VERBS]
UNPROVEN = {"flipped byte", "206 with other bytes"}  # of bytes whose digest nobody knows yet


@pytest.fixture(scope="module")
def ground(s3_server: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """Data in a bucket, and the proxy before it."""
    bucket = s3_server.make_bucket("fault-matrix")
    with fault_ground(s3_server, bucket, tmp_path_factory.mktemp("faults")) as ground:
        yield ground


@pytest.mark.parametrize("verb", VERBS)
def test_T63_one_fault_at_the_first_request(ground: Ground, verb: str) -> None:
    tried = 0
    for row in ROWS[list(VERBS).index(verb) % 2 :: 2]:
        found = fault_matrix.struck(ground, row, verb, (1,))
        assert found <= set(expected()[row.name][verb]["once"]), (row.name, found)
        tried += len(found)
    assert tried > 5


@pytest.mark.soak
@pytest.mark.parametrize(("row", "verb"), PAIRS, ids=[f"{r.name}-{verb}" for r, verb in PAIRS])
def test_T63_every_fault_of_every_verb(ground: Ground, row: Row, verb: str) -> None:
    allowed = expected()[row.name][verb]
    assert fault_matrix.struck(ground, row, verb) <= set(allowed["once"])
    assert fault_matrix.ruined(ground, row, verb) <= set(allowed["always"])


def test_the_outcomes_are_of_this_matrix() -> None:
    """A single fault that is worth another try ends right; nothing ends in a code of its own."""
    outcomes = expected()
    assert list(outcomes) == [row.name for row in ROWS]
    for name, verbs in outcomes.items():
        assert list(verbs) == list(VERBS)
        for verb, ends in verbs.items():
            for end in (*ends["once"], *ends["always"]):
                assert end in (RIGHT, CAUGHT) or int(end) in CODES
                assert end != CAUGHT or (verb == "adopt" and name in UNPROVEN)
    for name in ("500", "503", "503 SlowDown", "short body", "reset in an answer", "no answer"):
        assert all(set(verbs["once"]) <= {RIGHT} for verbs in (outcomes[name].values()))


def test_the_document_shows_these_outcomes() -> None:
    text = DOCUMENT.read_text()
    for kind in ("once", "always"):
        assert fault_matrix.table(kind) in text
