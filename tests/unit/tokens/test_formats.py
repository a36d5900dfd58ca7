"""A format is told by its keys, or asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stager.errors import UsageError
from stager.tokens.formats import detected

SFT = Path(__file__).parents[4] / "shared" / "data" / "sft"
REAL = {
    "alpaca_en_demo.json": "alpaca",
    "alpaca_zh_demo.json": "alpaca",
    "c4_demo.jsonl": "text",
    "dpo_zh_demo.json": "preference",
    "glaive_toolcall_en_demo.json": "sharegpt",
    "identity.json": "alpaca",
    "kto_en_demo.json": "messages",
    "reason_tool_use_demo_50.jsonl": "messages",
    "v1_sft_demo.jsonl": "messages",
}


@pytest.mark.skipif(not SFT.is_dir(), reason="needs ../shared: real rows of every format")
@pytest.mark.parametrize("name", REAL)
def test_K51_real_files_are_told_apart_and_say_why(name: str) -> None:
    text = (SFT / name).read_text(encoding="utf-8")
    rows = json.loads(text) if text.startswith("[") else map(json.loads, text.splitlines())
    found = detected(name, rows)
    assert found.format == REAL[name]
    assert found.reason.startswith(f"{name}: {found.format}, for its rows have ")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], "no rows"),
        ([{"prompt": "a", "completion": "b"}], "1 rows: none that is known"),
        ([{"text": "a", "messages": []}], "1 rows: messages or text"),
        ([{"text": "a"}, {"text": "a"}, {"messages": []}], "2 rows: text; 1 rows: messages"),
    ],
)
def test_K51_unsure_is_not_guessed(rows: list[dict[str, object]], told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        detected("a.jsonl", rows)
    assert "--format" in caught.value.hint
