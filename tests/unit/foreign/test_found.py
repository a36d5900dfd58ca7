"""foreign/found.py: paths inside a repository."""

from __future__ import annotations

import pytest

from stager.errors import UsageError
from stager.foreign.found import Found, path_inside


@pytest.mark.parametrize(
    ("typed", "path"),
    [("", ""), (".", ""), ("./", ""), ("a", "a"), ("./a/b/", "a/b"), ("a b@c", "a b@c")],
)
def test_paths_without_their_ornaments(typed: str, path: str) -> None:
    assert path_inside(typed) == path


@pytest.mark.parametrize("typed", ["..", "../a", "a/../..", "/a", "a//b", "a\0b", "a\\b", ".//a"])
def test_paths_that_lead_elsewhere(typed: str) -> None:
    with pytest.raises(UsageError, match="no path inside"):
        path_inside(typed)


def test_nothing_is_wrong_unless_somebody_says_so() -> None:
    assert Found((), {}).findings == Found((), {}).warnings == ()
