"""Every module imports on its own, and a start loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.architecture.modules import ROOT, SOURCE

HEAVY = (
    *("fsspec", "numpy", "obstore", "pyarrow", "pydantic", "rich", "zstandard"),
    *("configparser", "http.client", "ssl", "urllib.request"),  # only who asks for keys needs them
)
LIGHT = ("stager", "stager.cli.app", "stager.cli.pull", "stager.config", "stager.ops.pull")


def python(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", LIGHT)
def test_a_start_is_light(name: str) -> None:
    code = f"import sys, {name}; print(*sorted(set(sys.modules) & set({HEAVY!r})))"
    assert python(code).split() == []


@pytest.mark.parametrize("name", [module.dotted for module in SOURCE])
def test_a_module_imports_in_a_fresh_interpreter(name: str) -> None:
    if name == "stager.__main__":
        pytest.skip("importing it runs the command")
    assert python(f"import {name}") == ""


def test_what_is_exported_is_there() -> None:
    code = "import stager; print(*(getattr(stager, name) is not None for name in stager.__all__))"
    assert set(python(code).split()) == {"True"}
    with pytest.raises(AssertionError, match="has no attribute"):
        python("import stager; stager.nothing")
