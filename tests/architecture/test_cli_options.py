"""The command line is a promise: adding or renaming an option is a deliberate diff."""

from __future__ import annotations

from keyword import iskeyword

from stager.cli.app import VERBS
from tests.architecture.cli_options import listing
from tests.architecture.modules import ROOT

FROZEN = ROOT / "tests" / "architecture" / "cli_options.txt"
SHARED = {"__init__", "app", "output", "progress", "record_view", "settings", "wording"}


def test_the_options_are_the_ones_that_were_agreed_on() -> None:
    """To agree on others: the command in the docstring of cli_options.py."""
    assert listing().splitlines() == FROZEN.read_text(encoding="utf-8").splitlines()


def test_every_verb_is_one_file() -> None:
    stems = {path.stem for path in (ROOT / "stager" / "cli").glob("*.py")}
    files = {stem[:-1] if iskeyword(stem[:-1]) else stem for stem in stems}
    assert files - set(VERBS) == SHARED
    assert set(VERBS) <= files
