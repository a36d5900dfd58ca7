"""Chat templates, against transformers itself."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.tokens.templates import ChatTemplate, TemplateRefused

QWEN3 = Path(__file__).parents[4] / "shared" / "data" / "tokenizers" / "qwen3"
PLAIN = """{{ bos_token }}
{%- for message in messages %}
    {%- if message.role not in ['system', 'user', 'assistant'] %}
        {{- raise_exception('no role ' ~ message.role) }}
    {%- endif %}
    {{- '<' + message['role'] + '>' }}
    {%- if message.role == 'assistant' %}
        {%- generation %}{{ message.content | trim }}</s>{% endgeneration %}
    {%- else %}
        {{- message.content }}
    {%- endif %}
{%- endfor %}
{%- if tools %}{{ tools | tojson }}{% endif %}
{%- if add_generation_prompt %}<assistant>{% endif %}
"""

contents = st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=12)
turns = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant"]), "content": contents}
    ),
    min_size=1,
    max_size=5,
)


def reference(source: str, messages: object, **more: object) -> str:
    from transformers.utils.chat_template_utils import render_jinja_template

    found, _ = render_jinja_template([messages], chat_template=source, **more)
    return str(found[0])


@given(messages=turns, prompt=st.booleans())
def test_K45_text_is_what_transformers_renders(
    messages: list[dict[str, str]], prompt: bool
) -> None:
    expected = reference(PLAIN, messages, add_generation_prompt=prompt, bos_token="<s>")
    found = ChatTemplate(PLAIN, {"bos_token": "<s>"}).render(messages, prompt=prompt)
    assert found.text == expected
    said = [message["content"].strip() for message in messages if message["role"] == "assistant"]
    assert [found.text[start:end] for start, end in found.generated] == [
        f"{each}</s>" for each in said
    ]


@pytest.mark.skipif(not QWEN3.is_dir(), reason="needs ../shared: the tokenizer qwen3")
@given(messages=turns, prompt=st.booleans())
def test_K45_a_real_template(messages: list[dict[str, str]], prompt: bool) -> None:
    source = json.loads((QWEN3 / "tokenizer_config.json").read_text())["chat_template"]
    tools = [{"type": "function", "function": {"name": "é", "parameters": {"b": 1, "a": None}}}]
    try:
        expected = reference(source, messages, tools=tools, add_generation_prompt=prompt)
    except jinja2.TemplateError as problem:
        with pytest.raises(TemplateRefused, match=re.escape(str(problem))):
            ChatTemplate(source, {}).render(messages, tools, prompt)
        return
    assert ChatTemplate(source, {}).render(messages, tools, prompt).text == expected


def test_K44_a_generation_block_at_the_very_beginning() -> None:
    source = "{% generation %}{{ messages[0].content }}{% endgeneration %}."
    found = ChatTemplate(source, {}).render([{"role": "assistant", "content": "a b "}])
    assert found == ("a b .", ((0, 4),))


def test_what_the_template_says_against_it_is_kept() -> None:
    with pytest.raises(TemplateRefused, match="no role tool"):
        ChatTemplate(PLAIN, {}).render([{"role": "tool", "content": ""}])


def test_a_template_that_does_not_compile_names_its_line() -> None:
    with pytest.raises(TemplateRefused, match="line 2"):
        ChatTemplate("a\n{% for %}", {})


def test_a_template_cannot_reach_out() -> None:
    with pytest.raises(TemplateRefused, match="unsafe"):
        ChatTemplate("{{ messages.__class__.__mro__ }}", {}).render([])


def test_todays_date_must_be_given() -> None:
    source = "{{ strftime_now('%d %b %Y') }}"
    with pytest.raises(TemplateRefused, match="--date"):
        ChatTemplate(source, {}).render([])
    day = datetime.datetime(2026, 12, 7)
    assert ChatTemplate(source, {}, day).render([]).text == "07 Dec 2026"
