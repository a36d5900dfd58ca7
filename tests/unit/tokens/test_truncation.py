"""Too long rows and rows without labels, against the same done row by row."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stager.tokens.engines import Encoded
from stager.tokens.marking import IGNORED
from stager.tokens.truncation import TRUNCATIONS, truncated

rows = st.lists(st.lists(st.booleans(), max_size=12), max_size=8)


def encoded(examples: list[list[bool]]) -> tuple[Encoded, np.ndarray]:
    starts = np.cumsum([0, *map(len, examples)], dtype=np.int64)
    ids = np.arange(int(starts[-1]), dtype=np.int32)
    learned = np.array([one for each in examples for one in each], bool)
    return Encoded(ids, starts), np.where(learned, ids, IGNORED).astype(np.int32)


@given(
    examples=rows,
    limit=st.none() | st.integers(1, 10),
    how=st.sampled_from([each for each in TRUNCATIONS if each != "raise"]),
)
def test_K42_as_if_done_row_by_row(examples: list[list[bool]], limit: int | None, how: str) -> None:
    given_, labels = encoded(examples)
    expected, silent = {}, []
    for row in range(len(examples)):
        own = [*range(given_.starts[row], given_.starts[row + 1])]
        if limit is not None and len(own) > limit:
            own = {"right": own[:limit], "left": own[-limit:], "drop": []}[how]
            if how == "drop":
                continue
        if any(labels[at] != IGNORED for at in own):
            expected[row] = own
        else:
            silent.append(row)
    found = truncated(given_, labels, limit, how)
    assert found.rows.tolist() == list(expected)
    assert found.unlabelled.tolist() == silent
    for at, own in enumerate(expected.values()):
        place = slice(found.encoded.starts[at], found.encoded.starts[at + 1])
        assert found.encoded.ids[place].tolist() == own
        assert found.labels[place].tolist() == labels[own].tolist()


def test_K42_a_long_question_leaves_no_label_and_is_counted() -> None:
    given_, labels = encoded([[False] * 200 + [True] * 5, [False, True]])
    found = truncated(given_, labels, 64, "right")
    assert (found.rows.tolist(), found.unlabelled.tolist()) == ([1], [0])
    assert found.too_long.tolist() == [0]


def test_raise_cuts_nothing_and_names_the_rows() -> None:
    given_, labels = encoded([[True] * 9, [True] * 3])
    found = truncated(given_, labels, 4, "raise")
    assert found.too_long.tolist() == [0]
    assert found.encoded.ids.tolist() == given_.ids.tolist()
