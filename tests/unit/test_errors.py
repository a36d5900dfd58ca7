"""errors.py: the drawn tree is the real one, and every class is a sentence and a number."""

from __future__ import annotations

import re

import pytest

from stager import errors
from stager.errors import (
    Cancelled,
    DataError,
    DigestMismatch,
    StagerError,
    StorageThrottled,
    StorageUnavailable,
    problems,
    tree,
)


def drawn() -> dict[str, tuple[int, int]]:
    """Name to (depth, exit code) of the picture in the module's docstring."""
    lines = re.findall(r"^( +)([A-Z]\w+) +(\d+)", errors.__doc__ or "", re.MULTILINE)
    return {name: (len(indent), int(code)) for indent, name, code in lines}


def test_the_drawn_tree_is_the_real_one() -> None:
    found = {
        kind.__name__: (2 * len(kind.__mro__) - 4, kind.exit_code)  # object, BaseException, ...
        for kind in tree()
    }
    shift = drawn()["StagerError"][0] - found["StagerError"][0]
    shown = {name: (depth - shift, code) for name, (depth, code) in drawn().items()}
    assert shown.pop("Cancelled")[1] == Cancelled.exit_code
    assert shown == found


def test_exit_codes_are_unique_and_fit_a_process() -> None:
    codes = [kind.exit_code for kind in tree()] + [Cancelled.exit_code]
    assert len(set(codes)) == len(codes)
    assert all(0 < code < 256 for code in codes)


@pytest.mark.parametrize("kind", tree(), ids=lambda kind: kind.__name__)
def test_a_sentence_can_be_said_without_any_field(kind: type[StagerError]) -> None:
    assert "{" not in str(kind())


def test_fields_fill_the_sentence_and_stay_readable() -> None:
    problem = DigestMismatch(key="packs/aa", offset=7, expected="aa", actual="{bb}", hint="again")
    assert str(problem) == "packs/aa at byte 7: expected aa, got {bb}"
    assert problem.fields["offset"] == 7
    assert problem.hint == "again"


def test_only_an_unavailable_store_is_tried_again() -> None:
    assert {kind for kind in tree() if kind.transient} == {StorageUnavailable, StorageThrottled}


def test_a_cancellation_passes_through_handlers_of_errors() -> None:
    assert not issubclass(Cancelled, (StagerError, Exception))


def test_problems_names_every_finding_and_shows_the_first() -> None:
    findings = [f"file {number}" for number in range(60)]
    problem = problems("data", findings, shown=50)
    assert isinstance(problem, DataError)
    assert problem.fields["findings"] == findings
    assert str(problem).startswith("60 problem(s) in data:\n  file 0\n")
    assert str(problem).endswith("file 49\n  ... and 10 more")
