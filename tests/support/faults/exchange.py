"""One request and its answer, read from and written to sockets as HTTP/1.1.

Bodies are held whole: what passes here are packs of at most some tens of megabytes, and a
fault needs to know the body it breaks.
"""

from __future__ import annotations

import contextlib
import io
import select
import socket
import struct
import threading
import time
import urllib.parse
from dataclasses import dataclass, field, replace
from enum import Enum

Headers = list[tuple[str, str]]

MAX_HEAD = 64 * 1024
CHUNK_BYTES = 64 * 1024
FRAMING = ("content-length", "transfer-encoding", "connection")
BODILESS = (204, 304)
RESET = struct.pack("ii", 1, 0)  # SO_LINGER of no seconds: close() sends RST


class End(Enum):
    """What happens to the connection after the last byte of an answer."""

    KEEP = "keep"
    CLOSE = "close"
    RESET = "reset"
    STALL = "stall"  # stays open and silent until the client goes away


class Pace:
    """A link that all connections share: bytes per second, with a pause after so many bytes."""

    def __init__(self, rate: float, pause_after: int = 0, pause_seconds: float = 0.0) -> None:
        self.step = max(1024, min(CHUNK_BYTES, int(rate / 40)))
        self._rate = rate
        self._pause_after = pause_after
        self._pause_seconds = pause_seconds
        self._passed = 0
        self._free_at = time.monotonic()
        self._lock = threading.Lock()

    def take(self, size: int) -> None:
        """Waits until the link has carried `size` bytes more."""
        with self._lock:
            self._free_at = max(self._free_at, time.monotonic()) + size / self._rate
            before, self._passed = self._passed, self._passed + size
            if (
                self._pause_after
                and before // self._pause_after < self._passed // self._pause_after
            ):
                self._free_at += self._pause_seconds
            wait = self._free_at - time.monotonic()
        time.sleep(max(0.0, wait))


class Gone(Exception):
    """The client closed its side."""


@dataclass(frozen=True)
class Request:
    """What the client asks, as it was sent; header names in lower case are looked up."""

    method: str
    target: str
    headers: Headers
    body: bytes = b""
    number: int = 0  # of all requests of the proxy, from 1

    def header(self, name: str) -> str:
        """The value of a header, empty when there is none."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def path(self) -> str:
        """`/bucket/key`, unescaped."""
        return urllib.parse.unquote(self.target.partition("?")[0])

    @property
    def query(self) -> dict[str, str]:
        """Parameters of the query, unescaped."""
        text = self.target.partition("?")[2]
        return dict(urllib.parse.parse_qsl(text, keep_blank_values=True))

    @property
    def is_list(self) -> bool:
        """Whether it asks for a page of a listing."""
        query = self.query
        return self.method == "GET" and ("list-type" in query or "prefix" in query)

    @property
    def is_get(self) -> bool:
        """Whether it asks for an object or a range of one."""
        return self.method == "GET" and not self.is_list and self.path.count("/") > 1


@dataclass(frozen=True)
class Answer:
    """What the client gets: perhaps another length than there is, perhaps not all of it."""

    status: int
    reason: str
    headers: Headers = field(default_factory=list)
    body: bytes = b""
    declared: int | None = None  # Content-Length, when it is not the body's
    stop_at: int | None = None  # bytes of the body that are sent
    end: End = End.KEEP
    pace: Pace | None = None  # how fast the body goes; None is as fast as it can

    def with_header(self, name: str, value: str) -> Answer:
        """With this header in place of one of that name."""
        others = [(key, old) for key, old in self.headers if key.lower() != name.lower()]
        return replace(self, headers=[*others, (name, value)])


def read_head(stream: io.BufferedReader) -> Request | None:
    """The request line and headers; None when the client has nothing more to ask."""
    line = stream.readline(MAX_HEAD)
    if not line.strip():
        return None
    method, target, _ = line.decode("latin-1").split(" ", 2)
    headers: Headers = []
    while (line := stream.readline(MAX_HEAD)) not in (b"\r\n", b"\n", b""):
        name, _, value = line.decode("latin-1").partition(":")
        headers.append((name, value.strip()))
    return Request(method, target, headers)


def read_body(
    request: Request, stream: io.BufferedReader, most: int | None = None, pace: Pace | None = None
) -> bytes:
    """The body, or its first `most` bytes, taken at a pace; Gone when the client ends before."""
    if "chunked" in request.header("transfer-encoding").lower():
        return _read_chunked(stream)
    left = int(request.header("content-length") or 0)
    left = left if most is None else min(left, most)
    parts = []
    while left:
        part = stream.read1(min(left, CHUNK_BYTES))
        if not part:
            raise Gone
        parts.append(part)
        left -= len(part)
        if pace:
            pace.take(len(part))
    return b"".join(parts)


def _read_chunked(stream: io.BufferedReader) -> bytes:
    parts = []
    while size := int(stream.readline(MAX_HEAD).partition(b";")[0], 16):
        parts.append(stream.read(size))
        stream.readline()
    while stream.readline(MAX_HEAD).strip():
        pass
    return b"".join(parts)


def deliver(request: Request, answer: Answer, client: socket.socket) -> int:
    """Sends an answer the way it says; bytes of the body that were sent."""
    lines = [f"HTTP/1.1 {answer.status} {answer.reason}"]
    kept = [pair for pair in answer.headers if pair[0].lower() not in FRAMING]
    if request.method == "HEAD":  # its length is that of a body which does not come
        kept += [pair for pair in answer.headers if pair[0].lower() == "content-length"]
    elif answer.status not in BODILESS:
        length = len(answer.body) if answer.declared is None else answer.declared
        kept.append(("Content-Length", str(length)))
    lines += [f"{name}: {value}" for name, value in kept]
    client.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
    if request.method == "HEAD":
        return 0
    body = memoryview(answer.body)[: answer.stop_at]
    _send(client, body, answer.pace)
    return len(body)


def _send(client: socket.socket, body: memoryview, pace: Pace | None) -> None:
    if pace is None:
        client.sendall(body)
        return
    for at in range(0, len(body), pace.step):
        part = body[at : at + pace.step]
        pace.take(len(part))
        client.sendall(part)


def finish(client: socket.socket, end: End) -> None:
    """Ends the connection as asked; a stall reads nothing and lasts until the client goes."""
    if end is End.STALL:
        gone = select.poll()
        gone.register(client, select.POLLRDHUP)
        gone.poll()
    if end is End.RESET:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    with contextlib.suppress(OSError):
        client.shutdown(socket.SHUT_RD)  # the reader of this connection shares its socket
    client.close()
