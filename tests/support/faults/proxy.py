"""The proxy: carries requests to a server as they are, and breaks those that a script names.

The Host header passes unchanged. A client signs the address it dials, and a server checks
the signature against the Host it is given, so signatures stay right.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace

from tests.support.faults.exchange import (
    Answer,
    End,
    Gone,
    Request,
    deliver,
    finish,
    read_body,
    read_head,
)
from tests.support.faults.kinds import Fault
from tests.support.faults.rules import Rule, Script
from tests.support.processes import LOOPBACK

SOURCES_SECONDS = 120
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
NO_FAULT = Fault("none")
HOP = ("connection", "expect", "transfer-encoding", "content-length")


class FaultProxy:
    """Listens on loopback and forwards to `target`; a thread a connection."""

    def __init__(self, target: str) -> None:
        self.script = Script()
        self.requests: list[tuple[str, str]] = []  # method and path, in order of arrival
        self.sent = 0  # bytes of bodies to the server
        self.received = 0  # bytes of bodies to the client
        self._target = target.removeprefix("http://")
        self._listener = socket.create_server((LOOPBACK, 0), backlog=256)
        self._lock = threading.Lock()
        self._clients: set[socket.socket] = set()
        threading.Thread(target=self._accept, name="fault-proxy", daemon=True).start()

    @property
    def endpoint(self) -> str:
        """Where clients find it."""
        return f"http://{LOOPBACK}:{self._listener.getsockname()[1]}"

    def set(self, *rules: Rule) -> None:
        """New rules, and counters from nothing."""
        with self._lock:
            self.requests, self.sent, self.received = [], 0, 0
        self.script.set(*rules)

    def close(self) -> None:
        """No new connections, and the end of those that are."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            clients = list(self._clients)
        for client in clients:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            with self._lock:
                self._clients.add(client)
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        """One connection: request after request until somebody ends it."""
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server = http.client.HTTPConnection(self._target, timeout=SOURCES_SECONDS)
        try:
            with contextlib.suppress(OSError, Gone), client.makefile("rb") as stream:
                while (request := read_head(stream)) and self._one(request, stream, client, server):
                    pass
        finally:
            server.close()
            client.close()
            with self._lock:
                self._clients.discard(client)

    def _one(
        self,
        request: Request,
        stream: io.BufferedReader,
        client: socket.socket,
        server: http.client.HTTPConnection,
    ) -> bool:
        """Whether the connection goes on."""
        with self._lock:
            self.requests.append((request.method, request.path))
            request = replace(request, number=len(self.requests))
        fault = self.script.choose(request) or NO_FAULT
        if "100-continue" in request.header("expect").lower():
            client.sendall(CONTINUE)
        body = read_body(request, stream, fault.upload.stop_at, fault.upload.pace)
        if fault.upload.end is not End.KEEP:
            finish(client, fault.upload.end)
            return False
        request = replace(request, body=body)
        answer = fault.instead(request) if fault.instead else None
        if answer is None:
            answer = self._forwarded(request, server)
            answer = fault.after(request, answer) if fault.after else answer
        return self._answered(request, answer, client)

    def _answered(self, request: Request, answer: Answer, client: socket.socket) -> bool:
        count = deliver(request, answer, client) if answer.status else 0
        with self._lock:
            self.sent += len(request.body)
            self.received += count
        if answer.end is not End.KEEP:
            finish(client, answer.end)
        return answer.end is End.KEEP

    def _forwarded(self, request: Request, server: http.client.HTTPConnection) -> Answer:
        """The server's answer; asked again on a new connection when the old one was closed."""
        try:
            return _ask(request, server)
        except (http.client.HTTPException, ConnectionError):
            server.close()
            return _ask(request, server)


def _ask(request: Request, server: http.client.HTTPConnection) -> Answer:
    server.putrequest(request.method, request.target, skip_host=True, skip_accept_encoding=True)
    for name, value in request.headers:
        if name.lower() not in HOP:
            server.putheader(name, value)
    if request.body or request.method in ("PUT", "POST"):
        server.putheader("Content-Length", str(len(request.body)))
    server.endheaders(request.body or None)
    with server.getresponse() as response:
        return Answer(response.status, response.reason, response.getheaders(), response.read())


@contextlib.contextmanager
def fault_proxy(target: str) -> Iterator[FaultProxy]:
    """A proxy before `target` (`http://host:port`) until the block ends."""
    proxy = FaultProxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
