"""The layers hold; the contracts and their reasons stand in pyproject.toml."""

from __future__ import annotations

import re
import tomllib

import pytest
from importlinter.cli import lint_imports

from tests.architecture.modules import ROOT, SOURCE


def test_no_module_imports_what_lies_above_it(capsys: pytest.CaptureFixture[str]) -> None:
    code = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert code == 0, capsys.readouterr().out


def test_every_module_has_a_layer() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    known = {name.strip(" ()") for layer in layers for name in layer.split("|")}
    homes = {".".join(module.dotted.split(".")[:2]) for module in SOURCE}
    assert homes - known == {"stager", "stager.__main__"}


def test_only_config_reads_the_environment() -> None:
    reads = re.compile(r"\bos\.(environ|getenv)\b")
    readers = [str(module) for module in SOURCE if reads.search(module.text)]
    assert readers == ["stager/config.py"]
