"""Rows of every format to one conversation, as chat templates take it.

Roles follow the ecosystem: human is user, gpt is assistant, observation is tool, and a
function_call is an assistant turn with tool_calls. Contents that are lists of parts become
one text; reasoning parts become `reasoning_content`, where templates look for it. Nothing
is invented: a key that is null counts as absent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

Row = Mapping[str, object]

ROLES = {
    "human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant",
    "model": "assistant", "bot": "assistant", "chatgpt": "assistant", "system": "system",
    "developer": "developer", "observation": "tool", "tool": "tool",
    "function_call": "assistant", "function": "assistant",
}  # fmt: skip
CALLS = ("function_call", "function")


class NotAChat(Exception):
    """The row is no conversation of its format: why."""


class Chat(NamedTuple):
    """A conversation: messages, tools, and which messages may be trained on (None: any)."""

    messages: list[dict[str, object]]
    tools: list[object] | None = None
    trained: tuple[bool, ...] | None = None


def chat_of(kind: str, row: Row) -> Chat:
    """The row as a conversation; NotAChat says what is missing or wrong."""
    return READERS[kind](row)


def _alpaca(row: Row) -> Chat:
    said = [_text(row, key) for key in ("instruction", "input")]
    messages: list[dict[str, object]] = []
    if system := _text(row, "system"):
        messages.append({"role": "system", "content": system})
    for pair in _list(row, "history"):
        if not (isinstance(pair, list) and len(pair) == 2 and all(map(_is_text, pair))):
            raise NotAChat("history: pairs of texts are wanted")
        messages += _turns(pair[0], pair[1])
    answer = row["output"]
    if not isinstance(answer, str):
        raise NotAChat(f"output: a text is wanted, this is {_named(answer)}")
    return Chat(messages + _turns("\n".join(filter(None, said)), answer), _tools(row))


def _turns(asked: str, answer: str) -> list[dict[str, object]]:
    return [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]


def _sharegpt(row: Row) -> Chat:
    messages: list[dict[str, object]] = []
    if system := _text(row, "system"):
        messages.append({"role": "system", "content": system})
    turns = _list(row, "conversations")
    if turns and _at(turns[0]).get("from") == "system":
        messages = []  # the conversation's own comes before the column
    messages += [_turn(_at(turn)) for turn in turns]
    return Chat(_some(messages), _tools(row))


def _turn(turn: Row) -> dict[str, object]:
    speaker, value = turn.get("from"), turn.get("value")
    if not isinstance(value, str):
        raise NotAChat(f"value: a text is wanted, this is {_named(value)}")
    role = _role(speaker)
    if speaker in CALLS:
        return {"role": role, "content": "", "tool_calls": _calls(value)}
    return {"role": role, "content": value}


def _calls(value: str) -> list[object]:
    """What a function_call says, as OpenAI's tool_calls."""
    try:
        calls = json.loads(value)
    except ValueError as problem:
        raise NotAChat(f"function_call: not JSON: {problem}") from problem
    calls = calls if isinstance(calls, list) else [calls]
    return [{"type": "function", "function": _at(call)} for call in calls]


def _messages(row: Row) -> Chat:
    value = row["messages"]
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as problem:
            raise NotAChat(f"messages: not JSON: {problem}") from problem
    if not isinstance(value, list):
        raise NotAChat(f"messages: a list is wanted, this is {_named(value)}")
    given = [_at(message) for message in value]
    messages = _some([_message(message) for message in given])
    return Chat(messages, _tools(row), _trained(row, given))


def _trained(row: Row, given: Sequence[Row]) -> tuple[bool, ...] | None:
    """KTO's undesired answers, and messages of weight 0, are read and not learned."""
    if row.get("label") is False:
        return (False,) * len(given)
    weights = [_weight(message) for message in given]
    return tuple(weight != 0 for weight in weights) if any(w is not None for w in weights) else None


def _weight(message: Row) -> object:
    found = (message.get(key) for key in ("loss_weight", "weight", "train"))
    return next((value for value in found if value is not None), None)


def _message(message: Row) -> dict[str, object]:
    left_out = ("loss_weight", "weight", "train")
    found = {k: v for k, v in message.items() if v is not None and k not in left_out}
    found["role"] = _role(message.get("role"))
    content = message.get("content")
    if isinstance(content, list):
        found |= _parts([_at(part) for part in content])
    elif content is None and "tool_calls" in found:
        found["content"] = ""
    elif not isinstance(content, str):
        raise NotAChat(f"content: a text or a list of parts is wanted, this is {_named(content)}")
    return found


def _parts(parts: Sequence[Row]) -> dict[str, object]:
    texts: dict[str, str] = {"content": ""}
    calls: list[object] = []
    for part in parts:
        kind = part.get("type", "text")
        value = next((part[key] for key in ("text", "content", "value") if key in part), None)
        if not isinstance(value, str):
            raise NotAChat(f"content: a part of type {kind} without text")
        if kind == "tool_call":
            calls += _calls(value)
        elif kind in ("reasoning", "thinking"):
            texts["reasoning_content"] = texts.get("reasoning_content", "") + value
        elif kind == "text":
            texts["content"] += value
        else:
            raise NotAChat(f"content: parts of type {kind} are not text")
    return {**texts, "tool_calls": calls} if calls else dict(texts)


def _preference(row: Row) -> Chat:
    """The preferred answer, with what came before it."""
    chosen = row["chosen"]
    if isinstance(chosen, list):
        before = _list(row, "prompt") if isinstance(row.get("prompt"), list) else []
        return _messages({"messages": [*before, *chosen], "tools": row.get("tools")})
    answer = chosen if isinstance(chosen, Mapping) else {"role": "assistant", "content": chosen}
    if "conversations" in row:
        last = answer if "from" in answer else {"from": "gpt", "value": answer.get("content")}
        return _sharegpt({**row, "conversations": [*_list(row, "conversations"), last]})
    if "messages" in row:
        return _messages({**row, "messages": [*_list(row, "messages"), answer]})
    asked = {"role": "user", "content": row.get("prompt", row.get("question"))}
    return _messages({"messages": [asked, answer]})


def _tools(row: Row) -> list[object] | None:
    tools = row.get("tools")
    if isinstance(tools, str):
        if not tools.strip():
            return None
        try:
            tools = json.loads(tools)
        except ValueError as problem:
            raise NotAChat(f"tools: not JSON: {problem}") from problem
    if tools is not None and not isinstance(tools, list):
        raise NotAChat(f"tools: a list is wanted, this is {_named(tools)}")
    return tools or None


def _role(name: object) -> str:
    role = ROLES.get(name) if isinstance(name, str) else None
    if role is None:
        raise NotAChat(f"no such role: {name!r}")
    return role


def _some(messages: list[dict[str, object]]) -> list[dict[str, object]]:
    if not messages:
        raise NotAChat("a conversation without messages")
    return messages


def _text(row: Row, key: str) -> str:
    value = row.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise NotAChat(f"{key}: a text is wanted, this is {_named(value)}")
    return value


def _list(row: Row, key: str) -> list[object]:
    value = row.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise NotAChat(f"{key}: a list is wanted, this is {_named(value)}")
    return value


def _at(value: object) -> Row:
    if not isinstance(value, Mapping):
        raise NotAChat(f"an object is wanted, this is {_named(value)}")
    return value


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _named(value: object) -> str:
    return "null" if value is None else type(value).__name__


READERS: dict[str, Callable[[Row], Chat]] = {
    "alpaca": _alpaca,
    "sharegpt": _sharegpt,
    "messages": _messages,
    "preference": _preference,
}
