"""Asking metadata and token services: no proxy, no redirect, no waiting."""

from __future__ import annotations

import socket
import time

import pytest

from stager.errors import AccessDenied
from stager.storage.credentials import web
from tests.support.identity import Cloud
from tests.support.processes import free_port


def test_an_answer_of_any_status_is_an_answer(cloud: Cloud) -> None:
    assert web.metadata(web.Question(f"{cloud.url}/uri")).status == 200
    assert web.metadata(web.Question(f"{cloud.url}/nothing")).status == 404


def test_metadata_is_asked_without_the_proxy_of_the_environment(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    monkeypatch.delenv("no_proxy", raising=False)
    assert web.metadata(web.Question(f"{cloud.url}/uri")).status == 200
    with pytest.raises(web.Unreachable, match="Connection refused"):
        web.service(web.Question(f"{cloud.url}/uri"))


def test_a_redirect_is_not_followed(cloud: Cloud) -> None:
    cloud.statuses["/container"] = 302
    assert web.metadata(web.Question(f"{cloud.url}/container")).status == 302
    assert cloud.asked("/uri") == 0


def test_a_failing_server_is_asked_twice(cloud: Cloud) -> None:
    cloud.statuses["/uri"] = 503
    with pytest.raises(web.Unreachable, match="answers 503"):
        web.metadata(web.Question(f"{cloud.url}/uri"))
    assert cloud.asked("/uri") == web.TRIES


def test_a_silent_address_costs_little(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "METADATA_SECONDS", 0.05)
    cloud.slow = 0.3
    began = time.monotonic()
    with pytest.raises(web.Unreachable, match="no answer in time"):
        web.metadata(web.Question(f"{cloud.url}/uri"))
    assert time.monotonic() - began < 0.3 * web.TRIES


def test_a_name_that_is_not_resolved_in_time_is_unreachable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import threading

    released = threading.Event()
    monkeypatch.setattr(web, "METADATA_SECONDS", 0.05)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: released.wait(10) and [])
    with pytest.raises(web.Unreachable, match="there is no host metadata"):
        web.metadata(web.Question("http://metadata.example/x"))
    released.set()


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/x", "nonsense", "data:,x"])
def test_only_http_is_spoken(url: str) -> None:
    with pytest.raises(web.Unreachable):
        web.service(web.Question(url))


def test_an_endless_answer_is_none(cloud: Cloud) -> None:
    cloud.replies["/uri"] = b"{" + b" " * web.LARGEST + b"}"
    with pytest.raises(web.Unreachable):
        web.metadata(web.Question(f"{cloud.url}/uri"))


@pytest.mark.parametrize("body", [b"planted", b"[1]", b"\xff", b"[" * 60_000])
def test_what_is_no_json_object_is_not_quoted(body: bytes) -> None:
    with pytest.raises(AccessDenied, match="no JSON object") as caught:
        web.document(web.Reply(200, body), "here")
    assert "planted" not in str(caught.value)


def test_moments_are_read_in_the_forms_of_the_vendors() -> None:
    assert web.moment("1970-01-02T00:00:00Z", "x") == 86_400
    assert web.moment("1970-01-02T00:00:00", "x") == 86_400
    assert web.moment(86_400, "x") == 86_400
    for unreadable in (None, "soon", "", True):
        with pytest.raises(AccessDenied, match="no time of expiry"):
            web.moment(unreadable, "x")
