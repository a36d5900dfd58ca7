"""A threading HTTP/1.1 server with keep-alive that also answers as an HTTP proxy.

Names such as `bucket.oss-cn-hangzhou.aliyuncs.com` do not lead to this machine. A client
whose `http_proxy` is this server sends it `GET http://that.name/key HTTP/1.1` (absolute
form, RFC 9112 section 3.2.2), and is answered as by the host it names. For `https://` it
sends CONNECT first, and talks TLS to a server that has an authority, or gets a 405.
"""

from __future__ import annotations

import contextlib
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Protocol
from urllib.parse import parse_qsl, unquote_to_bytes

LOOPBACK = "127.0.0.1"
POLL_SECONDS = 0.02  # how soon a server notices that it shall stop


@dataclass(frozen=True)
class Request:
    """What a client asked for; header names are lower-case, values as latin-1 decodes them."""

    method: str
    host: str  # of the request target when absolute, else of the Host header; with its port
    path: str  # as sent: percent-encoded, not normalised
    raw_query: str
    headers: dict[str, str]
    body: bytes

    @cached_property
    def key(self) -> str:
        """The path without its first slash, decoded: the object key of a virtual host."""
        return unquote_to_bytes(self.path[1:]).decode("utf-8", "surrogateescape")

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """The query, decoded; `+` is a space, as every SDK here sends it."""
        return parse_qsl(self.raw_query, keep_blank_values=True)

    @cached_property
    def query(self) -> dict[str, str]:
        """The query by name."""
        return dict(self.pairs)


@dataclass
class Response:
    """An answer; of a HEAD the body is only measured."""

    status: int = HTTPStatus.OK
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | memoryview = b""


Answer = Callable[[Request], Response]


class Certifies(Protocol):
    """Who can make this server any host."""

    def context(self, host: str) -> ssl.SSLContext:
        """What a server needs to be this host."""
        ...


class HttpServer:
    """Answers on one loopback port, each connection in a thread, until it is closed."""

    def __init__(self, answer: Answer, port: int = 0, authority: Certifies | None = None) -> None:
        self._server = _Server((LOOPBACK, port), answer, authority)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(POLL_SECONDS,), daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop listening and end every connection."""
        self._server.shutdown()
        self._server.server_close()
        self._server.end_connections()
        self._thread.join()


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(
        self, address: tuple[str, int], answer: Answer, authority: Certifies | None
    ) -> None:
        self.answer = answer
        self.authority = authority
        self._open: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def process_request(self, request: socket.socket, client_address: object) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def replace_connection(self, old: socket.socket, new: socket.socket) -> None:
        self._open.discard(old)
        self._open.add(new)

    def end_connections(self) -> None:
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """The caller keeps its own record of requests."""

    def _serve(self) -> None:
        request = self._read()
        response = self.server.answer(request)
        reason = HTTPStatus(response.status).phrase
        headers = {"Content-Length": str(len(response.body)), **response.headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"HTTP/1.1 {int(response.status)} {reason}\r\n{lines}\r\n".encode("latin-1")
        bare = self.command == "HEAD" or response.status in {HTTPStatus.NO_CONTENT, 304}
        if bare or len(response.body) > 1 << 16:
            self.wfile.write(head)
            if not bare:
                self.wfile.write(response.body)
        else:
            self.wfile.write(head + bytes(response.body))

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_OPTIONS = _serve  # noqa: N815

    def do_CONNECT(self) -> None:
        """Become, by TLS, the host that the client wants to reach through the proxy."""
        if self.server.authority is None:
            self.wfile.write(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
            return
        host = self.requestline.split(" ")[1].rpartition(":")[0].strip("[]")
        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        plain = self.connection
        secure = self.server.authority.context(host).wrap_socket(plain, server_side=True)
        self.server.replace_connection(plain, secure)
        self.connection = secure
        self.rfile = secure.makefile("rb")
        self.wfile = _Whole(secure)  # type: ignore[assignment]
        self.close_connection = False

    def finish(self) -> None:
        super().finish()
        if isinstance(self.connection, ssl.SSLSocket):
            self.server.shutdown_request(self.connection)

    def _read(self) -> Request:
        # Not self.path: the standard library folds slashes at its start, and keys have them.
        target = self.requestline.split(" ")[1]
        headers = {name.lower(): value for name, value in self.headers.items()}
        host = headers.get("host", "")
        if target.lower().startswith("http://"):
            host, slash, rest = target[len("http://") :].partition("/")
            target = slash + rest or "/"
        path, _, query = target.partition("?")
        return Request(self.command, host.lower(), path, query, headers, self._body(headers))

    def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return b"".join(self._chunks())
        return self.rfile.read(int(headers.get("content-length", 0)))

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass


class _Whole:
    """Writes all of what it is given to a socket, as the standard library's own writer."""

    closed = False

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def write(self, data: bytes | memoryview) -> None:
        self._connection.sendall(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """The connection is closed by its owner."""
