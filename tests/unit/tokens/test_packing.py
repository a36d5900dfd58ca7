"""The plan of packing: nothing lost, nothing crossed, nearly full."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.tokens.packing import plan
from tests.unit.tokens.test_engines import engines
from tests.unit.tokens.test_formats import REAL, SFT

some_lengths = st.lists(st.integers(0, 40), max_size=60).map(lambda found: np.array(found, int))


@given(lengths=some_lengths, packing=st.sampled_from(["bfd", "none"]))
def test_K43_every_row_is_whole_in_one_sequence(lengths: np.ndarray, packing: str) -> None:
    found = plan(lengths, 40, packing)
    assert sorted(found.row.tolist()) == np.flatnonzero(lengths).tolist()
    assert (found.start == 0).all()
    assert (found.end == lengths[found.row]).all()
    assert (found.sizes <= 40).all()
    assert (found.sizes > 0).all()
    assert int(found.sizes.sum()) == int(lengths.sum())


@given(lengths=some_lengths)
def test_best_fit_leaves_no_two_sequences_that_fit_in_one(lengths: np.ndarray) -> None:
    sizes = np.sort(plan(lengths, 40, "bfd").sizes)
    assert len(sizes) < 2 or sizes[0] + sizes[1] > 40


@given(lengths=some_lengths, size=st.integers(1, 50))
def test_wrapped_is_the_stream_cut_evenly(lengths: np.ndarray, size: int) -> None:
    found = plan(lengths, size, "wrapped")
    stream = [(row, at) for row, length in enumerate(lengths.tolist()) for at in range(length)]
    told = [
        (row, at)
        for row, start, end in zip(found.row, found.start, found.end, strict=True)
        for at in range(start, end)
    ]
    kept = len(stream) - len(stream) % size
    assert told == stream[:kept]
    assert found.dropped == len(stream) - kept
    assert (found.sizes == size).all()
    assert len(found.sizes) == kept // size


def test_a_row_that_does_not_fit_is_said() -> None:
    with pytest.raises(ValueError, match="41 tokens does not fit 40"):
        plan(np.array([3, 41]), 40, "bfd")


@pytest.mark.skipif(not SFT.is_dir(), reason="needs ../shared: real rows of every format")
def test_the_real_mix_fills_4096_to_99_percent() -> None:
    texts = []
    for name in REAL:
        text = (SFT / name).read_text(encoding="utf-8")
        rows = json.loads(text) if text.startswith("[") else map(json.loads, text.splitlines())
        texts += [json.dumps(row, ensure_ascii=False) for row in rows]
    _, fast, _ = engines("qwen3")
    lengths = np.minimum(np.diff(fast.encode(texts).starts), 4096)
    found = plan(lengths, 4096, "bfd")
    assert found.fill(4096) >= 0.99
    assert plan(lengths[:0], 4096, "bfd").fill(4096) == 1.0
