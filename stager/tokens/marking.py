"""Labels: the ids inside the learned spans, everything else IGNORED.

By position, never by id: an EOS that is also the padding keeps its label. A token belongs to
a span when it overlaps it, as transformers' char_to_token marks. Positions come from the
bytes behind each id (engines.Vocabulary.sizes), summed for a whole batch at once; where they
do not add up to the text, because a normalizer changed it, the reference's offsets decide.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from stager.tokens.engines import Encoded, Ids, Reference
from stager.tokens.spans import Example, Span

IGNORED = -100  # what every trainer's loss leaves out (torch's cross_entropy default)


def labels(
    examples: Sequence[Example],
    encoded: Encoded,
    sizes: npt.NDArray[np.int64] | None,
    reference: Reference,
) -> Ids:
    """int32, as long as `encoded.ids`: the id where it is learned, IGNORED elsewhere."""
    found = np.full(len(encoded.ids), IGNORED, np.int32)
    widths = sizes[encoded.ids] if sizes is not None else np.zeros(len(encoded.ids), np.int64)
    ends = np.cumsum(widths)
    for at, each in enumerate(examples):
        first, behind = int(encoded.starts[at]), int(encoded.starts[at + 1])
        if first == behind:
            continue
        base = int(ends[first - 1]) if first else 0
        data = each.text.encode()
        if int(ends[behind - 1]) - base == len(data):
            window = ends[first:behind] - base
            ranges = _by_bytes(window, widths[first:behind], _in_bytes(each, len(data)))
        else:
            ranges = _by_offsets(reference.offsets(each.text), each.learned)
        for start, end in ranges:
            found[first + start : first + end] = encoded.ids[first + start : first + end]
    return found


def _in_bytes(example: Example, size: int) -> list[Span]:
    """The spans, which count characters, in bytes."""
    text = example.text
    if size == len(text):
        return list(example.learned)
    spans: list[Span] = []
    chars = bytes_ = 0
    for start, end in example.learned:
        begin = bytes_ + len(text[chars:start].encode())
        chars, bytes_ = end, begin + len(text[start:end].encode())
        spans.append((begin, bytes_))
    return spans


def _by_bytes(
    ends: npt.NDArray[np.int64], widths: npt.NDArray[np.int64], spans: Sequence[Span]
) -> list[Span]:
    starts = ends - widths
    return [
        (int(np.searchsorted(ends, start, "right")), int(np.searchsorted(starts, end, "left")))
        for start, end in spans
    ]


def _by_offsets(offsets: Sequence[Span], spans: Sequence[Span]) -> list[Span]:
    return [
        (at, at + 1)
        for at, (begin, finish) in enumerate(offsets)
        if any(begin < end and finish > start for start, end in spans)
    ]
