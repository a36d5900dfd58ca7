"""Spans by prefix difference, against generation tags, and on real rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.tokens.chats import Chat, chat_of
from stager.tokens.spans import Unmaskable, example
from stager.tokens.templates import ChatTemplate
from tests.unit.tokens.test_formats import REAL, SFT

QWEN3 = Path(__file__).parents[4] / "shared" / "data" / "tokenizers" / "qwen3"
TAGGED = (
    "{% for message in messages %}<s>{{ message.role }}\n"
    "{% if message.role == 'assistant' %}{% generation %}{{ message.content }}</s>\n"
    "{% endgeneration %}{% else %}{{ message.content }}</s>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant\n{% endif %}"
)
TAGS = ("{% generation %}", "{% endgeneration %}")

contents = st.text(st.sampled_from("ab \n</s>é"), max_size=8)
turns = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant"]), "content": contents}
    ),
    min_size=1,
    max_size=5,
)


def untagged(source: str) -> str:
    for tag in TAGS:
        source = source.replace(tag, "")
    return source


@given(messages=turns, train_on=st.sampled_from(["assistant", "last", "all"]))
def test_K45_a_template_without_tags_gives_the_same_spans(
    messages: list[dict[str, object]], train_on: str
) -> None:
    chat = Chat(messages)
    expected = example(ChatTemplate(TAGGED, {}), chat, train_on)
    assert example(ChatTemplate(untagged(TAGGED), {}), chat, train_on) == expected


def test_K46_the_stop_token_is_learned() -> None:
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}] * 2
    text, learned = example(ChatTemplate(untagged(TAGGED), {}), Chat(messages))
    assert [text[start:end] for start, end in learned] == ["a</s>\n"] * 2


def test_messages_of_no_weight_are_not_learned() -> None:
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}] * 2
    chat = Chat(messages, trained=(False, False, False, True))
    text, learned = example(ChatTemplate(TAGGED, {}), chat)
    assert [text[start:end] for start, end in learned] == ["a</s>\n"]
    assert learned[0][0] > len(text) // 2


def test_K45_a_template_that_rewrites_the_past_is_no_guess() -> None:
    counted = "{{ messages | length }}" + untagged(TAGGED).replace(
        "<s>assistant\n{% endif", "{% endif"
    )
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    with pytest.raises(Unmaskable, match=r"message 2: .* in another way later"):
        example(ChatTemplate(counted, {}), Chat(messages))


@pytest.mark.skipif(not SFT.is_dir(), reason="needs ../shared: real rows, the tokenizer qwen3")
@pytest.mark.parametrize("name", [name for name, kind in REAL.items() if kind != "text"])
def test_K45_real_rows_under_a_real_template(name: str) -> None:
    source = json.loads((QWEN3 / "tokenizer_config.json").read_text())["chat_template"]
    template = ChatTemplate(source, {})
    text = (SFT / name).read_text(encoding="utf-8")
    rows = json.loads(text) if text.startswith("[") else [*map(json.loads, text.splitlines())]
    for row in rows[:100]:
        chat = chat_of(REAL[name], row)
        found = example(template, chat._replace(trained=None))
        said = [message for message in chat.messages if message["role"] == "assistant"]
        assert len(found.learned) == len(said)
        for message, (start, end) in zip(said, found.learned, strict=True):
            turn = found.text[start:end]
            answer = str(message["content"]).rpartition("</think>")[2].strip("\n")
            assert answer.strip() in turn
            assert turn.endswith("<|im_end|>\n")
            assert turn.count("<|im_end|>") == 1
            assert found.text[:start].endswith("<|im_start|>assistant\n")
