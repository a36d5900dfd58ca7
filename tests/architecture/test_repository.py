"""The top is fixed, and nothing that is checked in tells of one machine or one person."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.architecture.modules import ROOT

TOP = {
    ".ci",
    ".dvc",
    ".dvcignore",
    ".github",
    ".gitignore",
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "benchmarks",
    "docs",
    "dvc.lock",
    "dvc.yaml",
    "pipelines",
    "pyproject.toml",
    "requirements",
    "stager",
    "tests",
}
TELLING = {
    "a path of one machine": r"(?<![\w./-])/(?:work|root|home/\w+|Users/\w+)/",
    "a private address": r"\b(?:10\.\d+|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d+\.\d+\b",
    "a package index": r"--(?:extra-)?index-url|\bartifactory\b|\bnexus\b|/pypi/simple\b",
    "an address of a person": r"\b[\w.]+@(?:gmail|qq|163|outlook|hotmail)\.com\b",
    "a key": r"\b(?:AKIA|LTAI|AKID)[A-Za-z0-9]{12,}\b",
}
SELF = Path("tests/architecture/test_repository.py")


def files() -> list[Path]:
    """What is checked in, or would be by `git add .`."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git repository")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = {Path(name) for name in listed.split("\0") if name}
    return sorted(name for name in names if (ROOT / name).is_file())


def test_the_top_level_holds_only_known_names() -> None:
    assert {path.parts[0] for path in files()} - TOP == set()


@pytest.mark.parametrize("what", TELLING)
def test_no_file_tells_of_one_machine_or_person(what: str) -> None:
    pattern, found = re.compile(TELLING[what]), []
    for path in files():
        if path == SELF:
            continue
        text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
        found += [
            f"{path}:{number}: {line.strip()[:100]}"
            for number, line in enumerate(text.splitlines(), 1)
            if pattern.search(line)
        ]
    assert found == []
