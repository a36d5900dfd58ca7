"""A threading HTTP/1.1 server with keep-alive that also answers as an HTTP proxy.

Names such as `bucket.oss-cn-hangzhou.aliyuncs.com` do not lead to this machine. A client
whose `http_proxy` is this server sends it `GET http://that.name/key HTTP/1.1` (absolute
form, RFC 9112 section 3.2.2), and is answered as by the host it names.
"""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
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


class HttpServer:
    """Answers on one loopback port, each connection in a thread, until it is closed."""

    def __init__(self, answer: Answer, port: int = 0) -> None:
        self._server = _Server((LOOPBACK, port), answer)
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

    def __init__(self, address: tuple[str, int], answer: Answer) -> None:
        self.answer = answer
        self._open: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def process_request(self, request: socket.socket, client_address: object) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

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
