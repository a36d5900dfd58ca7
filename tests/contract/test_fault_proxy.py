"""Every fault of the fault proxy, seen with http.client: what is ordered is what comes."""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.support.faults import kinds
from tests.support.faults.proxy import FaultProxy, fault_proxy
from tests.support.faults.rules import Rule
from tests.support.processes import LOOPBACK

OBJECT = bytes(range(256)) * 40
PAGE = (
    b"<ListBucketResult><IsTruncated>false</IsTruncated>"
    b"<Contents><Key>a</Key></Contents><Contents><Key>b</Key></Contents></ListBucketResult>"
)
KEY = "/bucket/key"
LIST = "/bucket?list-type=2&prefix=p"


class Origin(BaseHTTPRequestHandler):
    """One object, one listing, and a note of what was written."""

    protocol_version = "HTTP/1.1"
    written: dict[str, bytes]
    hosts: list[str]

    def do_GET(self) -> None:
        """The page, or the range of the object."""
        self.hosts.append(self.headers["Host"])
        if "list-type" in self.path:
            self._answer(200, PAGE)
            return
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if asked is None:
            self._answer(200, OBJECT)
            return
        first, last = int(asked[1]), int(asked[2])
        said = ("Content-Range", f"bytes {first}-{last}/{len(OBJECT)}")
        self._answer(206, OBJECT[first : last + 1], said)

    def do_HEAD(self) -> None:
        """The length of the object."""
        self._answer(200, OBJECT)

    def do_PUT(self) -> None:
        """Keeps the body."""
        self.written[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(200, b"", ("ETag", '"1"'))

    def _answer(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def origin() -> Iterator[type[Origin]]:
    """A server of its own; the class holds what it saw."""
    handler = type("Handler", (Origin,), {"written": {}, "hosts": []})
    server = ThreadingHTTPServer((LOOPBACK, 0), handler)
    handler.address = f"http://{LOOPBACK}:{server.server_port}"  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield handler
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def proxy(origin: type[Origin]) -> Iterator[FaultProxy]:
    """The proxy before it."""
    with fault_proxy(origin.address) as proxy:  # type: ignore[attr-defined]
        yield proxy


class Client:
    """One connection, with a limit of half a second for silence."""

    def __init__(self, proxy: FaultProxy) -> None:
        self.link = http.client.HTTPConnection(proxy.endpoint[7:], timeout=0.5)

    def ask(
        self, method: str = "GET", target: str = KEY, body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes]:
        """Status and body."""
        self.link.request(method, target, body, headers)
        self.answer = self.link.getresponse()
        return self.answer.status, self.answer.read()


@pytest.fixture
def client(proxy: FaultProxy) -> Iterator[Client]:
    """A client of the proxy."""
    client = Client(proxy)
    yield client
    client.link.close()


RANGE = {"Range": "bytes=100-199"}


def whole(path: str) -> bytes:
    """The object, as a fault asks for it."""
    assert path == KEY
    return OBJECT


def test_without_rules_all_passes_and_the_host_is_the_one_that_was_dialled(
    proxy: FaultProxy, client: Client, origin: type[Origin]
) -> None:
    assert client.ask() == (200, OBJECT)
    assert client.ask(**RANGE) == (206, OBJECT[100:200])
    assert client.ask("HEAD") == (200, b"")
    assert client.answer.getheader("Content-Length") == str(len(OBJECT))
    assert client.ask("PUT", "/bucket/new", b"body") == (200, b"")
    assert origin.written == {"/bucket/new": b"body"}
    assert set(origin.hosts) == {proxy.endpoint.removeprefix("http://")}
    assert proxy.requests == [("GET", KEY), ("GET", KEY), ("HEAD", KEY), ("PUT", "/bucket/new")]
    last = time.monotonic() + 5  # counted after the client has its answer
    while proxy.received < len(OBJECT) + 100 and time.monotonic() < last:
        time.sleep(0.01)
    assert (proxy.sent, proxy.received) == (4, len(OBJECT) + 100)
    assert proxy.script.total == 0


def test_a_rule_befalls_its_matches_and_no_others(proxy: FaultProxy, client: Client) -> None:
    fault = kinds.refused("503", 503, "ServiceUnavailable")
    proxy.set(Rule(fault, method="GET", key="key$", first=2, times=2))
    statuses = [client.ask()[0] for _ in range(2)]
    statuses += [client.ask("HEAD")[0], client.ask(target="/bucket/other")[0]]
    statuses += [client.ask()[0] for _ in range(2)]
    assert statuses == [200, 503, 200, 200, 503, 200]
    assert proxy.script.given == {"503": 2}
    proxy.set()
    assert proxy.script.total == 0


def test_chance_is_the_same_for_the_same_seed(proxy: FaultProxy, client: Client) -> None:
    def run(seed: int) -> list[int]:
        proxy.set(Rule(kinds.refused("500", 500, "InternalError"), chance=0.3, seed=seed))
        return [client.ask("HEAD")[0] for _ in range(60)]

    first = run(1)
    assert first == run(1) != run(2)
    assert 5 < first.count(500) < 35


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (kinds.refused("500", 500, "InternalError"), 500, b"InternalError"),
        (kinds.refused("SlowDown", 503, "SlowDown"), 503, b"SlowDown"),
        (kinds.refused("expired token", 403, "ExpiredToken"), 403, b"ExpiredToken"),
        (kinds.clock_skew(), 403, b"RequestTimeTooSkewed"),
        (kinds.redirected(301, "http://elsewhere.invalid"), 301, b"PermanentRedirect"),
        (kinds.redirected(307, "http://elsewhere.invalid"), 307, b"TemporaryRedirect"),
    ],
    ids=lambda value: value.name if isinstance(value, kinds.Fault) else "",
)
def test_answers_of_its_own(
    proxy: FaultProxy,
    client: Client,
    origin: type[Origin],
    fault: kinds.Fault,
    status: int,
    code: bytes,
) -> None:
    proxy.set(Rule(fault))
    found, body = client.ask("PUT", "/bucket/new", b"body")
    assert found == status
    assert b"<Code>%s</Code>" % code in body
    assert origin.written == {}
    if status in (301, 307):
        assert client.answer.getheader("Location") == "http://elsewhere.invalid/bucket/new"
    assert client.ask("PUT", "/bucket/new", b"body")[0] == 200


@pytest.mark.parametrize("at", [0, 1000])
def test_reset_in_the_answer(proxy: FaultProxy, client: Client, at: int) -> None:
    proxy.set(Rule(kinds.reset_download(at)))
    with pytest.raises((ConnectionResetError, http.client.IncompleteRead)) as raised:
        client.ask()
    if isinstance(raised.value, http.client.IncompleteRead):
        assert len(raised.value.partial) <= at


def test_stall_in_the_answer(proxy: FaultProxy, client: Client) -> None:
    proxy.set(Rule(kinds.stalled_download(1000)))
    client.link.request("GET", KEY)
    answer = client.link.getresponse()
    assert answer.read(1000) == OBJECT[:1000]
    with pytest.raises(TimeoutError):
        answer.read(1)


def test_short_body(proxy: FaultProxy, client: Client) -> None:
    proxy.set(Rule(kinds.short_body(7)))
    with pytest.raises(http.client.IncompleteRead) as raised:
        client.ask()
    assert raised.value.partial == OBJECT[:-7]


def test_no_answer(proxy: FaultProxy, client: Client, origin: type[Origin]) -> None:
    proxy.set(Rule(kinds.silent()))
    with pytest.raises(TimeoutError):
        client.ask("PUT", "/bucket/new", b"body")
    assert origin.written == {}


@pytest.mark.parametrize("fault", [kinds.reset_upload(50_000), kinds.stalled_upload(50_000)])
def test_a_broken_upload_reaches_nobody(
    proxy: FaultProxy, client: Client, origin: type[Origin], fault: kinds.Fault
) -> None:
    proxy.set(Rule(fault))
    with pytest.raises((ConnectionError, TimeoutError)):
        client.ask("PUT", "/bucket/new", bytes(30_000_000))
    assert origin.written == {}
    assert proxy.script.given == {fault.name: 1}


def test_lengths_that_are_not_the_body_s(proxy: FaultProxy, client: Client) -> None:
    proxy.set(Rule(kinds.wrong_length(-5)), Rule(kinds.wrong_length(5)))
    assert client.ask() == (200, OBJECT[:-5])
    client.link.close()
    with pytest.raises(http.client.IncompleteRead) as raised:
        client.ask()
    assert raised.value.partial == OBJECT


def test_flipped_byte(proxy: FaultProxy, client: Client) -> None:
    proxy.set(Rule(kinds.flipped_byte(100)))
    status, body = client.ask()
    assert status == 200
    assert [at for at, byte in enumerate(body) if byte != OBJECT[at]] == [100]
    assert client.ask() == (200, OBJECT)


def test_answers_to_ranges(proxy: FaultProxy, client: Client) -> None:
    faults = (kinds.whole_object(whole), kinds.other_range(whole), kinds.lying_range(whole))
    proxy.set(*map(Rule, faults))
    assert client.ask(**RANGE) == (200, OBJECT)
    assert client.answer.getheader("Content-Range") is None
    assert client.ask(**RANGE) == (206, OBJECT)
    assert client.answer.getheader("Content-Range") == f"bytes 0-{len(OBJECT) - 1}/{len(OBJECT)}"
    assert client.ask(**RANGE) == (206, OBJECT[:100])
    assert client.answer.getheader("Content-Range") == f"bytes 100-199/{len(OBJECT)}"


def test_replaced_before_the_second_range(proxy: FaultProxy, client: Client) -> None:
    told: list[str] = []
    proxy.set(Rule(kinds.replaced(told.append), first=2))
    for _ in range(3):
        assert client.ask(**RANGE) == (206, OBJECT[100:200])
    assert told == [KEY]


def test_torn_listing_and_keys_given_twice(proxy: FaultProxy, client: Client) -> None:
    proxy.set(Rule(kinds.torn_listing()), Rule(kinds.repeated_keys()))
    status, body = client.ask(target=LIST)
    assert status == 200 and PAGE.startswith(body) and len(body) < len(PAGE)
    _, body = client.ask(target=LIST)
    assert re.findall(b"<Key>(.)</Key>", body) == [b"a", b"a", b"b", b"b"]


def test_pages_that_come_again(proxy: FaultProxy, client: Client) -> None:
    more = f"{LIST}&continuation-token={kinds.AGAIN}"
    for endless in (False, True):
        proxy.set(Rule(kinds.Pages(endless).fault(), times=None))
        _, body = client.ask(target=LIST)
        assert b"<IsTruncated>true" in body and kinds.AGAIN.encode() in body
        for _ in range(3):
            _, body = client.ask(target=more)
            assert (b"<IsTruncated>true" in body) is endless
            assert body.count(b"<Key>") == 2


def test_a_lost_answer_and_a_lost_write(
    proxy: FaultProxy, client: Client, origin: type[Origin]
) -> None:
    proxy.set(Rule(kinds.lost_answer()), Rule(kinds.lying_put()))
    with pytest.raises(ConnectionResetError):
        client.ask("PUT", "/bucket/one", b"1")
    client.link.close()
    assert client.ask("PUT", "/bucket/two", b"2")[0] == 200
    assert origin.written == {"/bucket/one": b"1"}


def test_slow_link_each_way(proxy: FaultProxy, client: Client, origin: type[Origin]) -> None:
    proxy.set(Rule(kinds.slow(50_000), times=None))
    began = time.monotonic()
    assert client.ask() == (200, OBJECT)
    down = time.monotonic() - began
    client.ask("PUT", "/bucket/new", OBJECT)
    assert origin.written == {"/bucket/new": OBJECT}
    assert min(down, time.monotonic() - began - down) >= len(OBJECT) / 50_000 * 0.9


def test_an_observer_is_told_before_the_server(
    proxy: FaultProxy, client: Client, origin: type[Origin]
) -> None:
    seen: list[int] = []
    proxy.set(Rule(kinds.observed(lambda request: seen.append(len(origin.hosts))), first=2))
    for _ in range(3):
        client.ask()
    assert seen == [1]


def test_closing_ends_connections_that_stall(origin: type[Origin]) -> None:
    with fault_proxy(origin.address) as proxy:  # type: ignore[attr-defined]
        proxy.set(Rule(kinds.silent(), times=None))
        link = socket.create_connection((LOOPBACK, int(proxy.endpoint.rpartition(":")[2])))
        link.sendall(b"GET /bucket/key HTTP/1.1\r\nHost: x\r\n\r\n")
        link.settimeout(5)
    with contextlib.suppress(ConnectionResetError):  # or a quiet end
        assert link.recv(1) == b""
    link.close()
