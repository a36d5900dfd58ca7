"""Rows of every format to one conversation."""

from __future__ import annotations

import json

import pytest

from stager.tokens.chats import Chat, NotAChat, chat_of
from tests.unit.tokens.test_formats import REAL, SFT

CHATS = [name for name, kind in REAL.items() if kind != "text"]


def told(chat: Chat) -> list[tuple[object, object]]:
    return [(message["role"], message["content"]) for message in chat.messages]


@pytest.mark.skipif(not SFT.is_dir(), reason="needs ../shared: real rows of every format")
@pytest.mark.parametrize("name", CHATS)
def test_K51_every_real_row_is_a_conversation(name: str) -> None:
    text = (SFT / name).read_text(encoding="utf-8")
    rows = json.loads(text) if text.startswith("[") else map(json.loads, text.splitlines())
    for row in rows:
        chat = chat_of(REAL[name], row)
        assert {message["role"] for message in chat.messages} <= {
            "system", "user", "assistant", "tool",
        }  # fmt: skip
        assert chat.messages[-1]["role"] == "assistant"
        assert chat.trained is None or len(chat.trained) == len(chat.messages)


def test_alpaca_joins_what_is_there() -> None:
    row = {"instruction": "a", "input": "", "output": "b", "system": "s", "history": [["q", "r"]]}
    assert told(chat_of("alpaca", row)) == [
        ("system", "s"), ("user", "q"), ("assistant", "r"), ("user", "a"), ("assistant", "b"),
    ]  # fmt: skip
    row = {"instruction": "a", "input": "x", "output": "b"}
    assert told(chat_of("alpaca", row))[0] == ("user", "a\nx")


def test_sharegpt_function_calls_are_tool_calls() -> None:
    call = {"name": "f", "arguments": {"x": 1}}
    turns = [
        {"from": "human", "value": "a"},
        {"from": "function_call", "value": json.dumps(call)},
        {"from": "observation", "value": "r"},
        {"from": "gpt", "value": "b"},
    ]
    chat = chat_of("sharegpt", {"conversations": turns, "tools": '[{"name": "f"}]'})
    assert [message["role"] for message in chat.messages] == [
        "user", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert chat.messages[1]["tool_calls"] == [{"type": "function", "function": call}]
    assert chat.tools == [{"name": "f"}]


def test_sharegpt_own_system_comes_before_the_column() -> None:
    turns = [{"from": "system", "value": "mine"}, {"from": "gpt", "value": "b"}]
    row = {"conversations": turns, "system": "column"}
    assert told(chat_of("sharegpt", row))[0] == ("system", "mine")
    assert told(chat_of("sharegpt", {**row, "conversations": turns[1:]}))[0][1] == "column"


def test_K29_content_is_a_text_or_parts() -> None:
    parts = [
        {"type": "reasoning", "value": "hm"},
        {"type": "text", "text": "a"},
        {"type": "text", "value": "b"},
        {"type": "tool_call", "value": '{"name": "f", "arguments": {}}'},
    ]
    rows = [{"role": "user", "content": "q"}, {"role": "assistant", "content": parts}]
    answer = chat_of("messages", {"messages": rows}).messages[1]
    assert (answer["content"], answer["reasoning_content"]) == ("ab", "hm")
    assert answer["tool_calls"] == [
        {"type": "function", "function": {"name": "f", "arguments": {}}}
    ]


def test_K27_nulls_are_absent() -> None:
    message = {"role": "assistant", "content": "a", "tool_calls": None, "name": None}
    chat = chat_of("messages", {"messages": [message], "tools": None})
    assert chat == Chat([{"role": "assistant", "content": "a"}])


def test_weights_and_undesired_answers_are_not_learned() -> None:
    messages = [
        {"role": "user", "content": "q", "loss_weight": 0.0},
        {"role": "assistant", "content": "a", "loss_weight": 1.0},
    ]
    chat = chat_of("messages", {"messages": messages})
    assert chat.trained == (False, True)
    assert "loss_weight" not in chat.messages[0]
    assert chat_of("messages", {"messages": messages, "label": False}).trained == (False, False)
    assert chat_of("messages", {"messages": json.dumps(messages)}) == chat


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": "q", "chosen": "a", "rejected": "b"},
        {
            "conversations": [{"from": "human", "value": "q"}],
            "chosen": {"from": "gpt", "value": "a"},
            "rejected": {},
        },
        {
            "messages": [{"role": "user", "content": "q"}],
            "chosen": {"role": "assistant", "content": "a"},
            "rejected": {},
        },
        {
            "chosen": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}],
            "rejected": [],
        },
        {
            "prompt": [{"role": "user", "content": "q"}],
            "chosen": [{"role": "assistant", "content": "a"}],
            "rejected": [],
        },
    ],
)
def test_the_preferred_answer_ends_the_conversation(row: dict[str, object]) -> None:
    assert told(chat_of("preference", row)) == [("user", "q"), ("assistant", "a")]


@pytest.mark.parametrize(
    ("kind", "row", "reason"),
    [
        ("alpaca", {"instruction": "a", "output": None}, "output: a text"),
        ("alpaca", {"instruction": 1, "output": "a"}, "instruction: a text"),
        ("alpaca", {"instruction": "a", "output": "b", "history": [["q"]]}, "history"),
        ("sharegpt", {"conversations": []}, "without messages"),
        ("sharegpt", {"conversations": [{"from": "elf", "value": ""}]}, "no such role: 'elf'"),
        ("sharegpt", {"conversations": [{"from": "gpt", "value": 1}]}, "value: a text"),
        ("sharegpt", {"conversations": [{"from": "function_call", "value": "{"}]}, "not JSON"),
        ("sharegpt", {"conversations": ["a"]}, "an object"),
        ("messages", {"messages": "["}, "messages: not JSON"),
        ("messages", {"messages": {}}, "messages: a list"),
        ("messages", {"messages": [{"role": "user"}]}, "content: a text or"),
        ("messages", {"messages": [{"role": 1, "content": ""}]}, "no such role: 1"),
        ("messages", {"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "image"),
        ("messages", {"messages": [{"role": "user", "content": ""}], "tools": "{"}, "tools: not"),
        ("messages", {"messages": [{"role": "user", "content": ""}], "tools": {}}, "tools: a list"),
    ],
)
def test_K39_what_is_wrong_is_named(kind: str, row: dict[str, object], reason: str) -> None:
    with pytest.raises(NotAChat, match=reason):
        chat_of(kind, row)
