"""Every file is short, named for what it holds, documented, and has its test."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.architecture.modules import EVERYTHING, ROOT, SOURCE, Module

MODULE_LINES = 350
FUNCTION_LINES = 60
PARAMETERS = 8
FORBIDDEN = {"base", "common", "core", "helpers", "manager", "misc", "util", "utils"}

AS_COMMANDS = "a verb is tested as the command it is, in tests/integration/"
EXEMPT = {
    "stager/__init__.py": "names what api.py holds; tests/architecture/test_imports.py imports it",
    "stager/__main__.py": "one line; every integration test runs it or its entry point",
    "stager/api.py": AS_COMMANDS,
    "stager/cli/": AS_COMMANDS,
    "stager/ops/": AS_COMMANDS,
}


def exempt(module: Module) -> bool:
    """Whether a module needs no unit test of its name, for a reason given above."""
    return any(str(module).startswith(place) for place in EXEMPT)


def expected(module: Module) -> Path:
    """Where the test of a module stands."""
    below = module.path.relative_to("stager")
    return ROOT / "tests" / "unit" / below.with_name(f"test_{below.name}")


def is_package(module: Module) -> bool:
    """Whether the module is a folder's docstring and nothing more."""
    return module.path.name == "__init__.py" and len(module.tree.body) <= 1


def test_every_module_has_the_test_of_its_name() -> None:
    tested = [module for module in SOURCE if not exempt(module) and not is_package(module)]
    missing = [str(module) for module in tested if not expected(module).exists()]
    assert missing == []


def test_every_unit_test_has_a_module() -> None:
    known = {expected(module) for module in SOURCE}
    tests = (ROOT / "tests" / "unit").rglob("test_*.py")
    assert [str(path.relative_to(ROOT)) for path in tests if path not in known] == []


def test_every_exemption_is_of_something() -> None:
    assert [place for place in EXEMPT if not (ROOT / place).exists()] == []


def test_no_module_is_long() -> None:
    long = {str(module): module.text.count("\n") for module in EVERYTHING}
    assert {name: lines for name, lines in long.items() if lines > MODULE_LINES} == {}


def test_no_function_is_long() -> None:
    long = [
        f"{module}:{node.lineno} {node.name}"
        for module in EVERYTHING
        for node in module.definitions()
        if not isinstance(node, ast.ClassDef)
        and (node.end_lineno or 0) - node.lineno + 1 > FUNCTION_LINES
    ]
    assert long == []


def test_no_function_has_a_cockpit() -> None:
    wide = []
    for module in SOURCE:
        if module.path.parts[1] == "cli":
            continue  # a verb's options are its parameters, and frozen in cli_options.txt
        for node in module.definitions():
            if not isinstance(node, ast.ClassDef):
                given = node.args
                count = len(given.posonlyargs + given.args + given.kwonlyargs)
                if count > PARAMETERS:
                    wide.append(f"{module}:{node.lineno} {node.name}: {count}")
    assert wide == []


def test_no_name_is_a_dumping_ground() -> None:
    parts = {(str(module), part) for module in EVERYTHING for part in module.path.parts}
    assert [name for name, part in parts if part.removesuffix(".py") in FORBIDDEN] == []


@pytest.mark.parametrize("module", SOURCE, ids=str)
def test_every_public_name_says_what_it_is(module: Module) -> None:
    assert ast.get_docstring(module.tree)
    assert [
        f"{module}:{node.lineno} {node.name}"
        for node in module.public()
        if not ast.get_docstring(node)
    ] == []


def test_every_test_module_says_what_it_asks() -> None:
    tests = [module for module in EVERYTHING if module.path.name.startswith("test_")]
    assert [str(module) for module in tests if not ast.get_docstring(module.tree)] == []


def test_every_return_is_annotated() -> None:
    assert [
        f"{module}:{node.lineno} {node.name}"
        for module in SOURCE
        for node in module.definitions()
        if not isinstance(node, ast.ClassDef) and node.returns is None
    ] == []
