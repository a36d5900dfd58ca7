"""Labels by bytes, by offsets, and as transformers' char_to_token marks them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.tokens.marking import IGNORED, labels
from stager.tokens.spans import Example
from tests.unit.tokens.test_engines import engines, mixed


def expected(name: str, example: Example) -> list[int]:
    """What transformers marks: from char_to_token(start) to char_to_token(end - 1)."""
    reference, _, _ = engines(name)
    encoding = reference.tokenizer.encode(example.text, add_special_tokens=False)
    found = [IGNORED] * len(encoding.ids)
    for start, end in example.learned:
        for char in range(start, end):
            at = encoding.char_to_token(char)
            if at is not None:
                found[at] = encoding.ids[at]
    return found


@pytest.mark.parametrize("name", ["qwen3", "deepseek"])
@given(parts=st.lists(st.lists(st.tuples(mixed, st.booleans()), max_size=4), max_size=3))
def test_K46_labels_are_those_of_transformers(
    name: str, parts: list[list[tuple[str, bool]]]
) -> None:
    reference, fast, vocabulary = engines(name)
    examples = []
    for example in parts:
        text, spans = "", []
        for piece, learned in example:
            if learned and piece:
                spans.append((len(text), len(text) + len(piece)))
            text += piece
        examples.append(Example(text, tuple(spans)))
    encoded = fast.encode([each.text for each in examples])
    found = labels(examples, encoded, vocabulary.sizes, reference)
    by_offsets = labels(examples, encoded, None, reference)
    for at, each in enumerate(examples):
        own = slice(encoded.starts[at], encoded.starts[at + 1])
        wanted = [*zip(encoded.ids[own].tolist(), expected(name, each), strict=True)]
        # several tokens of one character: the library names one of them, all are learned
        for labelled in (found, by_offsets):
            told = labelled[own].tolist()
            assert all(label == theirs for label, (_, theirs) in zip(told, wanted, strict=True)
                       if theirs != IGNORED)  # fmt: skip
        assert found[own].tolist() == by_offsets[own].tolist()


def test_K43_everything_and_nothing() -> None:
    reference, fast, vocabulary = engines("deepseek")
    examples = [Example("abc def", ((0, 7),)), Example("", ()), Example("abc def", ())]
    encoded = fast.encode([each.text for each in examples])
    found = labels(examples, encoded, vocabulary.sizes, reference).tolist()
    half = len(found) // 2
    assert found == [*encoded.ids[:half].tolist(), *[IGNORED] * half]
