"""Values that hold secrets do not show them."""

from __future__ import annotations

import pickle
from pathlib import Path

from stager.storage.credentials.values import CredentialOptions, Credentials
from stager.storage.secret import Secret

KEYS = Credentials("ID", Secret("SECRET"), Secret("TOKEN"), 10.0, "here")


def test_no_value_shows_a_secret() -> None:
    options = CredentialOptions(
        environ={"AWS_SECRET_ACCESS_KEY": "SECRET"}, secret_access_key=Secret("SECRET")
    )
    for shown in (repr(KEYS), str(KEYS), f"{KEYS}", repr(options), str(options)):
        assert "SECRET" not in shown
        assert "TOKEN" not in shown


def test_credentials_are_the_same_by_their_keys_alone() -> None:
    assert KEYS.same_keys(KEYS._replace(expires=None, source="there"))
    assert not KEYS.same_keys(KEYS._replace(session_token=Secret("OTHER")))


def test_options_reach_another_process() -> None:
    options = CredentialOptions(environ={"A": "1"}, secret_access_key=Secret("SECRET"))
    assert pickle.loads(pickle.dumps(options)) == options


def test_paths_are_shown_from_the_home() -> None:
    options = CredentialOptions(home=Path("/h"))
    assert options.shown(Path("/h/.aws/config")) == "~/.aws/config"
    assert options.shown(Path("/etc/aws")) == "/etc/aws"
