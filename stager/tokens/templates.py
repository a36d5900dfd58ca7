"""Chat templates, rendered as transformers renders them.

The environment follows transformers' chat_template_utils (Apache-2.0; settings listed in
docs there): a sandbox whose values cannot be changed, `trim_blocks`, `lstrip_blocks`, loop
controls, `tojson` that is json.dumps without escapes, `raise_exception`, and a
`{% generation %}` tag around what the assistant said. `strftime_now` takes its day from the
caller: a template that asks for today is not the same data tomorrow.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.parser
import jinja2.sandbox

# Noncharacters (Unicode 16, section 23.7): text holds none of them by right, so they mark
# where a generation block begins and ends until the text is split at them.
OPENED, CLOSED = "\ufdd1", "\ufdd2"

Message = Mapping[str, object]


class TemplateRefused(Exception):
    """The template raised, or cannot be compiled: its own words."""


class Rendered(NamedTuple):
    """Text, and the (start, end) characters inside generation blocks, in order."""

    text: str
    generated: tuple[tuple[int, int], ...]


class _GenerationTag(jinja2.ext.Extension):
    """`{% generation %}...{% endgeneration %}`: the block between two marks."""

    tags = {"generation"}  # noqa: RUF012 - jinja2's own protocol

    def parse(self, parser: jinja2.parser.Parser) -> jinja2.nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        call = self.call_method("_marked")
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _marked(self, caller: Callable[[], str]) -> str:
        return f"{OPENED}{caller()}{CLOSED}"


class ChatTemplate:
    """A compiled template and the tokenizer's special tokens that it may name."""

    def __init__(
        self, source: str, special: Mapping[str, str], today: datetime.datetime | None = None
    ) -> None:
        """`special` is bos_token, eos_token, ...; TemplateRefused when it does not compile."""
        self.source = source
        self.special = dict(special)
        self.today = today
        self.has_generation = "endgeneration" in source
        try:
            self._template = self._environment().from_string(source)
        except jinja2.TemplateError as problem:
            raise TemplateRefused(f"line {getattr(problem, 'lineno', 0)}: {problem}") from problem

    def _environment(self) -> jinja2.sandbox.ImmutableSandboxedEnvironment:
        found = jinja2.sandbox.ImmutableSandboxedEnvironment(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_GenerationTag, "jinja2.ext.loopcontrols"],
        )
        found.filters["tojson"] = _tojson
        found.globals["raise_exception"] = _raise
        found.globals["strftime_now"] = self._strftime_now
        return found

    def _strftime_now(self, pattern: str) -> str:
        if self.today is None:
            raise TemplateRefused("the template writes today's date: give one with --date")
        return self.today.strftime(pattern)

    def render(
        self,
        messages: Sequence[Message],
        tools: Sequence[object] | None = None,
        prompt: bool = False,
    ) -> Rendered:
        """The conversation as text; with `prompt`, up to where the assistant would go on.

        TemplateRefused carries what the template says against the conversation.
        """
        try:
            text = self._template.render(
                messages=messages,
                tools=tools,
                documents=None,
                add_generation_prompt=prompt,
                **self.special,
            )
        except jinja2.TemplateError as problem:
            raise TemplateRefused(str(problem)) from problem
        except (TypeError, ValueError, KeyError, AttributeError) as problem:
            raise TemplateRefused(f"{type(problem).__name__}: {problem}") from problem
        return _split(text) if self.has_generation else Rendered(text, ())


def _split(text: str) -> Rendered:
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    length = 0
    for at, outside in enumerate(text.split(OPENED)):
        inside, closed, after = outside.partition(CLOSED) if at else ("", "", outside)
        if closed:
            spans.append((length, length + len(inside)))
        pieces += [inside, after]
        length += len(inside) + len(after)
    return Rendered("".join(pieces), tuple(spans))


def _raise(message: str) -> None:
    raise jinja2.TemplateError(message)


def _tojson(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )
