"""Small exchanges with the servers that hand out credentials: metadata and token services.

Redirects are never followed: who answers at an address may not send the question elsewhere.
Metadata addresses are asked without any proxy, for a second at a time and twice at most, so
that a laptop, where nobody answers there, does not hang. Their answers are small; more than
64 KiB is none.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from stager.storage.credentials.sources import wrong

if TYPE_CHECKING:
    from http.client import HTTPResponse

METADATA_SECONDS = 1.0
SERVICE_SECONDS = 5.0
TRIES = 2
LARGEST = 64 * 1024


class Unreachable(Exception):
    """Nobody answers at an address; the text says what happened, never what was sent."""


class Question(NamedTuple):
    """One request; with `data` a POST unless `method` says otherwise."""

    url: str
    headers: Mapping[str, str] = {}
    data: bytes | None = None
    method: str = ""


class Reply(NamedTuple):
    """Its answer, of whatever status."""

    status: int
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode(errors="replace").strip()


def metadata(question: Question) -> Reply:
    """Asks an instance's own metadata server; Unreachable where there is none."""
    from urllib.parse import urlsplit

    _check_name(urlsplit(question.url).hostname or "")
    return _asked(question, METADATA_SECONDS, proxied=False)


def service(question: Question) -> Reply:
    """Asks a token service, through the proxy of the environment; Unreachable when it fails."""
    return _asked(question, SERVICE_SECONDS, proxied=True)


def document(reply: Reply, source: str) -> dict[str, Any]:
    """The JSON object of an answer; AccessDenied, without its words, when it is none."""
    try:
        found = json.loads(reply.body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise wrong(source, f"answers {reply.status} and no JSON object") from None
    return found


def moment(text: object, source: str) -> float:
    """Seconds since the epoch of `2026-12-01T10:00:00Z` or of a number."""
    from datetime import UTC, datetime

    if isinstance(text, (int, float)) and not isinstance(text, bool):
        return float(text)
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        raise wrong(source, "says no time of expiry that can be read") from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _asked(question: Question, seconds: float, proxied: bool) -> Reply:
    from http.client import HTTPException

    failure = ""
    for _ in range(TRIES):
        try:
            reply = _exchange(question, seconds, proxied)
        except (OSError, HTTPException, ValueError) as problem:
            failure = _words(problem)
            continue
        if reply.status < 500:
            return reply
        failure = f"answers {reply.status}"
    raise Unreachable(failure)


def opened(question: Question, seconds: float, proxied: bool) -> HTTPResponse:
    """One request by handlers of http and https alone: no redirects, no files, no ftp.

    OSError, HTTPException or ValueError when there is no answer.
    """
    from urllib import request

    opener = request.OpenerDirector()
    opener.add_handler(request.ProxyHandler(None if proxied else {}))
    opener.add_handler(request.HTTPHandler())
    opener.add_handler(request.HTTPSHandler())
    asked = request.Request(
        question.url,
        data=question.data,
        headers=dict(question.headers),
        method=question.method or None,
    )
    answer = opener.open(asked, timeout=seconds)
    if answer is None:
        raise ValueError("neither http nor https")
    return cast("HTTPResponse", answer)


def _exchange(question: Question, seconds: float, proxied: bool) -> Reply:
    with opened(question, seconds, proxied) as answer:
        body = answer.read(LARGEST + 1)
    if len(body) > LARGEST:
        raise ValueError("more than 64 KiB")
    return Reply(answer.status, body)


def _words(problem: Exception) -> str:
    """What happened; of foreign errors the system's own words only."""
    inner = getattr(problem, "reason", problem)
    if isinstance(inner, TimeoutError):
        return "no answer in time"
    return getattr(inner, "strerror", None) or type(inner).__name__


def _check_name(host: str) -> None:
    """Unreachable when a name is not resolved in time: a resolver may try for half a minute."""
    if host.replace(".", "").isdigit() or ":" in host:
        return
    import socket
    import threading

    found: list[object] = []

    def resolve() -> None:
        with contextlib.suppress(OSError, UnicodeError):
            found.extend(socket.getaddrinfo(host, None))

    worker = threading.Thread(target=resolve, daemon=True)
    worker.start()
    worker.join(METADATA_SECONDS)
    if not found:
        raise Unreachable(f"there is no host {host}")
