"""Whole keys, half keys, no keys."""

from __future__ import annotations

import pytest

from stager.errors import AccessDenied
from stager.storage.credentials.sources import Absent, Names, explicit, shortened, variables
from stager.storage.credentials.values import CredentialOptions, Credentials
from stager.storage.secret import Secret

NAMES = Names("X_ID", "X_KEY", ("X_TOKEN", "X_OLD_TOKEN"))


def found(**environ: str) -> object:
    """What the variables give."""
    return variables(CredentialOptions(environ=environ), NAMES).find()


def test_variables_are_read_with_their_token() -> None:
    expected = Credentials("i", Secret("k"), Secret("t"), None, "environment X_ID")
    assert found(X_ID="i", X_KEY="k", X_TOKEN="t") == expected
    assert found(X_ID="i", X_KEY="k", X_OLD_TOKEN="t") == expected


def test_blanks_around_keys_are_not_part_of_them() -> None:
    assert found(X_ID=" i\n", X_KEY="k\r\n") == Credentials(
        "i", Secret("k"), Secret(), None, "environment X_ID"
    )


def test_none_is_absent_and_says_what_is_missing() -> None:
    assert found() == Absent("X_ID is not set")
    assert found(X_ID="", X_KEY="") == Absent("X_ID is not set")
    assert found(X_TOKEN="t") == Absent("X_ID is not set")


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"X_ID": "i"}, "X_ID is set, X_KEY is not"),
        ({"X_KEY": "planted"}, "X_KEY is set, X_ID is not"),
    ],
)
def test_a_half_key_is_an_error_that_names_the_other_half(
    environ: dict[str, str], sentence: str
) -> None:
    with pytest.raises(AccessDenied, match=sentence) as caught:
        found(**environ)
    assert "planted" not in str(caught.value)


def test_given_keys_may_not_be_half_either() -> None:
    whole = CredentialOptions(access_key_id="i", secret_access_key=Secret("k"))
    assert isinstance(explicit(whole).find(), Credentials)
    with pytest.raises(AccessDenied, match="secret_access_key is not"):
        explicit(CredentialOptions(access_key_id="i")).find()


def test_a_key_id_is_shortened_so_that_it_cannot_be_used() -> None:
    assert shortened("PLANTED-key-id") == "PLAN…id"
    assert shortened("12345678") == "…"
    assert shortened("") == "…"
