"""What a source of credentials is, and what it may answer.

A source has credentials, or knows whom to ask for them (Ask), or says why it has none
(Absent), or is there and wrong: then it raises, because going on with others than the user
meant is worse than stopping. Looking costs no request; only what an Ask holds does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from stager.errors import AccessDenied
from stager.storage.credentials.values import CredentialOptions, Credentials
from stager.storage.secret import Secret


class Absent(NamedTuple):
    """No credentials here, and why not."""

    reason: str


Found = Credentials | Absent


class Ask(NamedTuple):
    """Credentials are to be had by asking a server or running a program, and by whose name."""

    name: str
    ask: Callable[[], Found]


Answer = Credentials | Absent | Ask


class Source(NamedTuple):
    """A place to look, without asking anybody."""

    name: str
    find: Callable[[], Answer]


def settled(answer: Answer) -> Found:
    """The answer itself, or what those say who are to be asked."""
    return answer.ask() if isinstance(answer, Ask) else answer


def required(where: str, ask: Ask) -> Ask:
    """An Ask that a file refers to: nobody there is then an error of that file."""

    def asked() -> Found:
        found = ask.ask()
        if isinstance(found, Absent):
            raise wrong(where, f"it refers to the {ask.name}, but {found.reason}")
        return found

    return Ask(ask.name, asked)


class Names(NamedTuple):
    """How key id, secret and token are called at one place; of tokens the first that is set."""

    key_id: str
    secret: str
    tokens: tuple[str, ...]


def wrong(source: str, reason: str, hint: str = "") -> AccessDenied:
    """The error of a source that is there and cannot be used; `reason` must hold no secret."""
    return AccessDenied(url=f"credentials from {source}", reason=reason, hint=hint)


def paired(source: str, names: Names, values: Credentials) -> Found:
    """`values` when whole; Absent when both keys are empty; AccessDenied naming the missing half.

    Blanks around a key, which a copied line easily brings, are not part of it.
    """
    key_id = values.access_key_id.strip()
    secret = Secret(values.secret_access_key.reveal().strip())
    token = Secret(values.session_token.reveal().strip())
    if not key_id and not secret:
        return Absent(f"{names.key_id} is not set")
    if not key_id or not secret:
        there, gone = (names.key_id, names.secret) if key_id else (names.secret, names.key_id)
        raise wrong(source, f"{there} is set, {gone} is not")
    return values._replace(access_key_id=key_id, secret_access_key=secret, session_token=token)


def explicit(options: CredentialOptions) -> Source:
    """Keys that were given to the program itself."""
    name = "options"
    names = Names("access_key_id", "secret_access_key", ("session_token",))
    keys = (options.access_key_id, options.secret_access_key, options.session_token)
    return Source(name, lambda: paired(name, names, Credentials(*keys, None, name)))


def variables(options: CredentialOptions, names: Names) -> Source:
    """Keys in environment variables."""
    name = f"environment {names.key_id}"
    environ = options.environ
    token = next((environ[token] for token in names.tokens if environ.get(token)), "")
    values = Credentials(
        environ.get(names.key_id, ""),
        Secret(environ.get(names.secret, "")),
        Secret(token),
        None,
        name,
    )
    return Source(name, lambda: paired(name, names, values))


def shortened(key_id: str) -> str:
    """A key id that can be recognised and not used: its first four and last two characters."""
    return f"{key_id[:4]}…{key_id[-2:]}" if len(key_id) > 8 else "…"
