"""storage/secret.py: text that does not show itself."""

from __future__ import annotations

import pickle

from stager.storage.secret import Secret


def test_a_secret_knows_whether_it_is_one() -> None:
    assert Secret("x")
    assert not Secret()
    assert repr(Secret()) == "''"


def test_secrets_are_compared_by_what_they_hold() -> None:
    assert Secret("x") == Secret("x") != Secret("y")
    assert Secret("x") != "x"
    assert len({Secret("x"), Secret("x"), Secret("y")}) == 2


def test_a_secret_goes_to_another_process_and_stays_one() -> None:
    moved = pickle.loads(pickle.dumps(Secret("s3cr3t-value")))
    assert moved.reveal() == "s3cr3t-value"
    assert "s3cr3t" not in repr(moved)
