"""Which characters of a rendered conversation are learned: labels by position.

Where the template marks `{% generation %}`, its blocks are the spans. Elsewhere a turn is
what its message adds: from where the generation prompt of the messages before it ends, to
where the turn ends, its stop token and what follows it included, so EOS is labelled. Both
ends are checked against the whole text; a template that rewrites what came before, so that
a span cannot be known, is an error and never a guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from stager.tokens.chats import Chat
from stager.tokens.templates import ChatTemplate, TemplateRefused

TRAIN_ON = ("assistant", "last", "all")
TAIL = 16  # characters of a content's end that must be in its turn

Span = tuple[int, int]


class Unmaskable(Exception):
    """Which characters are learned cannot be known: why."""


class Example(NamedTuple):
    """A conversation's text, and the (start, end) characters that are learned, in order."""

    text: str
    learned: tuple[Span, ...]


def example(template: ChatTemplate, chat: Chat, train_on: str = "assistant") -> Example:
    """The conversation rendered, with its spans.

    `train_on` assistant: every assistant turn; last: the last of them; all: everything.
    Unmaskable where a span is not certain; TemplateRefused where the template refuses.
    """
    whole = template.render(chat.messages, chat.tools)
    if train_on == "all":
        return Example(whole.text, ((0, len(whole.text)),))
    turns = [at for at, each in enumerate(chat.messages) if each["role"] == "assistant"]
    if template.has_generation:
        if len(whole.generated) != len(turns):
            reason = f"{len(turns)} assistant turns, {len(whole.generated)} generation blocks"
            raise Unmaskable(reason)
        spans = dict(zip(turns, whole.generated, strict=True))
    else:
        spans = _differences(template, chat, whole.text, turns)
    wanted = turns[-1:] if train_on == "last" else turns
    learned = (spans[at] for at in wanted if chat.trained is None or chat.trained[at])
    return Example(whole.text, tuple(span for span in learned if span[1] > span[0]))


def _differences(
    template: ChatTemplate, chat: Chat, text: str, turns: Sequence[int]
) -> dict[int, Span]:
    spans: dict[int, Span] = {}
    after = 0
    for at in turns:
        start = _start(template, chat, text, at)
        if start < after:
            raise Unmaskable(f"message {at + 1}: begins before the turn before it ends")
        last = at == len(chat.messages) - 1
        after = len(text) if last else start + _length(template, chat, text[start:], at)
        spans[at] = (start, after)
    return spans


def _start(template: ChatTemplate, chat: Chat, text: str, at: int) -> int:
    """Where message `at` begins: the text before it, with the generation prompt.

    A template that drops old reasoning writes that text in another way once more messages
    follow; then it begins behind the last generation prompt before its content.
    """
    if at == 0:
        return _content_start(template, chat, text, 0)
    before = template.render(chat.messages[:at], chat.tools, prompt=True).text
    if text.startswith(before):
        return len(before)
    asked = template.render(chat.messages[:at], chat.tools).text
    prompt = before[len(asked) :] if before.startswith(asked) else ""
    content = _content_start(template, chat, text, at)
    found = text.rfind(prompt, 0, content) if prompt else -1
    if found < 0:
        reason = "the template writes what is before it in another way later"
        raise Unmaskable(f"message {at + 1}: {reason}; mark {{% generation %}} in the template")
    return found + len(prompt)


def _content_start(template: ChatTemplate, chat: Chat, text: str, at: int) -> int:
    """Where the content of message `at` begins: where writing more before it shows."""
    message = chat.messages[at]
    content = str(message["content"])
    other = "y" if content.lstrip()[:1] == "x" else "x"
    messages = [*chat.messages]
    messages[at] = {**message, "content": other + content}
    try:
        changed = template.render(messages, chat.tools).text
    except TemplateRefused as problem:
        raise Unmaskable(f"message {at + 1}: {problem}") from problem
    start = next((n for n, (a, b) in enumerate(zip(changed, text, strict=False)) if a != b), -1)
    if start < 0 or changed[start : start + 1] != other:
        raise Unmaskable(f"message {at + 1}: where it begins is not to be seen")
    return start


def _length(template: ChatTemplate, chat: Chat, rest: str, at: int) -> int:
    """How much of `rest` message `at` wrote.

    Its turn, rendered as the last one, ends the same way; templates drop a last turn's
    reasoning later, so its beginning may be missing from `rest`.
    """
    turn = template.render(chat.messages[: at + 1], chat.tools).text
    prompt = template.render(chat.messages[:at], chat.tools, prompt=True).text if at else ""
    if at == 0:
        turn = turn[_content_start(template, Chat(chat.messages[:1], chat.tools), turn, 0) :]
    elif turn.startswith(prompt):
        turn = turn[len(prompt) :]
    else:
        raise Unmaskable(f"message {at + 1}: does not follow its generation prompt")
    limit = max(turn.rfind(_tail(chat.messages[at])), 0)
    for dropped in range(limit + 1):
        if rest.startswith(turn[dropped:]):
            return len(turn) - dropped
    raise Unmaskable(f"message {at + 1}: where its turn ends is not to be seen")


def _tail(message: Mapping[str, object]) -> str:
    content = str(message["content"]).strip()
    if content:
        return content[-TAIL:]
    calls = message.get("tool_calls")
    function = calls[-1].get("function") if isinstance(calls, list) and calls else None
    return str(function.get("name", "")) if isinstance(function, Mapping) else ""
