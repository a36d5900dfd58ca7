"""A store that refuses every request and quotes all that it was sent, in every way it can."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.support.processes import LOOPBACK

SIGNATURE = re.compile(r"(?:[Ss]ignature[=:]|OSS \S+:)\s*([A-Za-z0-9+/=%]{16,})")


@dataclass
class Echo:
    """Where it listens, how it refuses, and what it saw."""

    url: str = ""
    status: int = 403
    code: str = "AccessDenied"
    requests: int = 0
    signatures: set[str] = field(default_factory=set)


@contextlib.contextmanager
def echo_server() -> Iterator[Echo]:
    """Serves until the block ends; also as a proxy for any host."""
    echo = Echo()
    handler = type("Handler", (_Handler,), {"echo": echo})
    with _Server((LOOPBACK, 0), handler) as server:
        echo.url = f"http://{LOOPBACK}:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield echo
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Nothing: a client that hangs up is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    echo: Echo
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def handle_any(self) -> None:
        """The same answer to everything."""
        self.rfile.read(int(self.headers.get("content-length") or 0))
        sent = {name.lower(): value for name, value in self.headers.items()}
        authorization = sent.get("authorization", "")
        tokens = [value for name, value in sent.items() if "token" in name]
        self.echo.requests += 1
        self.echo.signatures.update(SIGNATURE.findall(f"{authorization} {self.path}"))
        body = self._quoting(sent, authorization, tokens).encode()
        self.send_response(self.echo.status)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("x-amz-request-id", "1")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Any method: do_GET, do_PUT, ..."""
        if name.startswith("do_"):
            return self.handle_any
        raise AttributeError(name)

    def _quoting(self, sent: dict[str, str], authorization: str, tokens: list[str]) -> str:
        """Under the names that S3, OSS and COS have, as headers, as JSON, and with no name."""
        token = tokens[0] if tokens else ""
        parts = authorization.replace(",", " ").split()
        headers = "\n".join(f"{name}: {value}" for name, value in sent.items())
        quoted = [
            f"<Message>{escape(token)} of {escape(self.path)} is refused</Message>",
            f"<Authorization>{escape(authorization)}</Authorization>",
            f"<SignatureProvided>{escape(parts[-1] if parts else '')}</SignatureProvided>",
            f"<Token-0>{escape(token)}</Token-0><SecurityToken>{token}</SecurityToken>",
            f"<StringToSign>{escape(headers)}</StringToSign>",
            f"<Detail>{json.dumps(sent)}</Detail>",
            f"<Plain>{headers}</Plain>",
        ]
        # Errors are cut to some length, so another kind comes first each time.
        first = self.echo.requests % len(quoted)
        turned = "".join(quoted[first:] + quoted[:first])
        return f'<?xml version="1.0"?><Error><Code>{self.echo.code}</Code>{turned}</Error>'
