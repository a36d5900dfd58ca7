"""What the OSS and the COS server have in common: ports, buckets, keys, a record of requests."""

from __future__ import annotations

import argparse
import secrets
import sys
import threading
import traceback
from types import TracebackType
from typing import NamedTuple, Self

from tests.support.clouds.authority import Authority
from tests.support.clouds.dialects import http_date
from tests.support.clouds.http_server import LOOPBACK, HttpServer, Request, Response
from tests.support.clouds.keyring import Clock, Keyring
from tests.support.clouds.objects import Bucket
from tests.support.clouds.refusals import AuthFailure, Refused

UNSEEN = frozenset({"authorization", "x-oss-security-token", "x-cos-security-token"})


class Seen(NamedTuple):
    """One request as the server saw it; `path` is decoded, secrets are left out."""

    method: str
    host: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    status: int


class Cloud:
    """A cloud in this process; use it as a context manager.

    It answers on one port, as an HTTP proxy for the vendor's host names, and on one more
    port for every `cname`. With `tls` it is also the `https://` of every host.
    """

    key_variables: tuple[str, str]  # where the vendor's tools look for the key pair
    server_name: str
    id_header: str  # of every answer: what a vendor's support asks for
    default_region: str

    def __init__(
        self, *, port: int = 0, key_id: str = "", secret: str = "", tls: bool = False
    ) -> None:
        self.key_id = key_id or f"TESTKEY{secrets.token_hex(6)}"
        self.secret = secret or secrets.token_hex(16)
        self.clock = Clock()
        self.keyring = Keyring(self.clock)
        self.keyring.add(self.key_id, self.secret)
        self.buckets: dict[str, Bucket] = {}
        self.requests: list[Seen] = []
        self._cnames: dict[int, str] = {}
        self._domains: dict[str, str] = {}
        self._lock = threading.Lock()
        self._servers: list[HttpServer] = []
        self._authority = Authority() if tls else None
        self.port = self._listen(port).port

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop answering on every port."""
        for server in self._servers:
            server.close()
        self._servers.clear()
        if self._authority is not None:
            self._authority.close()

    @property
    def endpoint(self) -> str:
        """Where the server listens: the proxy of its clients."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def skew_seconds(self) -> float:
        """How far the server's clock is ahead of this machine's."""
        return self.clock.skew_seconds

    @skew_seconds.setter
    def skew_seconds(self, seconds: float) -> None:
        self.clock.skew_seconds = seconds

    def make_bucket(
        self,
        name: str,
        region: str | None = None,
        *,
        versioning: bool = False,
        v1_allowed: bool = False,
    ) -> str:
        """Make an empty bucket, or keep the one of that name, and return the name."""
        with self._lock:
            if name not in self.buckets:
                self.buckets[name] = Bucket(
                    name,
                    region or self.default_region,
                    versioning=versioning,
                    v1_allowed=v1_allowed,
                )
        return name

    def environment(self) -> dict[str, str]:
        """The variables with which clients, in the vendor's or S3's dialect, reach the server.

        The proxy for https is set too, so that no test can reach a real cloud by mistake.
        """
        id_variable, secret_variable = self.key_variables
        return {
            **({} if self._authority is None else self._authority.environment()),
            **dict.fromkeys(
                ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"), self.endpoint
            ),
            "no_proxy": f"{LOOPBACK},localhost",
            "NO_PROXY": f"{LOOPBACK},localhost",
            id_variable: self.key_id,
            secret_variable: self.secret,
            "AWS_ACCESS_KEY_ID": self.key_id,
            "AWS_SECRET_ACCESS_KEY": self.secret,
        }

    def cname(self, bucket: str, port: int = 0) -> str:
        """Listen on one more port whose host is the bucket, and return its URL.

        Aliyun's SDKs take any IP address for path style; to them it is `localhost:PORT`.
        """
        with self._lock:
            for known, name in self._cnames.items():
                if name == bucket:
                    return f"http://{LOOPBACK}:{known}"
        server = self._listen(port)
        with self._lock:
            self._cnames[server.port] = bucket
        return f"http://{LOOPBACK}:{server.port}"

    def domain(self, name: str, bucket: str) -> None:
        """Answer as the bucket to clients that send `http://name/key` to the proxy."""
        with self._lock:
            self._domains[name] = bucket

    def issue_token(self, seconds: float) -> tuple[str, str, str]:
        """A temporary key (id, secret, token), refused after so many seconds."""
        return self.keyring.issue(seconds)

    def revoke(self, key_id: str) -> None:
        """Refuse this key from now on."""
        self.keyring.revoke(key_id)

    def serve(self, request: Request) -> Response:
        """Answer one request; the vendor's module says how."""
        raise NotImplementedError

    def refusal(self, request: Request, refused: Refused, request_id: str) -> Response:
        """How the vendor writes a refusal down."""
        raise NotImplementedError

    def refused_credentials(self, request: Request, failure: AuthFailure) -> Refused:
        """The vendor's words for what is wrong with a request's credentials."""
        raise NotImplementedError

    def cname_of(self, request: Request) -> str | None:
        """The bucket whose custom domain the request was sent to."""
        name, _, port = request.host.partition(":")
        return self._domains.get(name) or self._cnames.get(int(port) if port.isdecimal() else 0)

    def _listen(self, port: int) -> HttpServer:
        server = HttpServer(self._answer, port, self._authority)
        self._servers.append(server)
        return server

    def _answer(self, request: Request) -> Response:
        request_id = secrets.token_hex(12).upper()
        try:
            try:
                response = self.serve(request)
            except AuthFailure as failure:
                raise self.refused_credentials(request, failure) from failure
        except Refused as refused:
            response = self.refusal(request, refused, request_id)
        except Exception:  # noqa: BLE001 - a bug of the server is shown, not hidden in a thread
            traceback.print_exc(file=sys.stderr)
            refused = Refused(500, "InternalError", "We encountered an internal error.")
            response = self.refusal(request, refused, request_id)
        response.headers.setdefault(self.id_header, request_id)
        response.headers.setdefault("Date", http_date(self.clock.now()))
        response.headers.setdefault("Server", self.server_name)
        self._record(request, response.status)
        return response

    def _record(self, request: Request, status: int) -> None:
        headers = {name: value for name, value in request.headers.items() if name not in UNSEEN}
        path = f"/{request.key}"
        seen = Seen(request.method, request.host, path, request.query, headers, int(status))
        with self._lock:
            self.requests.append(seen)


def run(kind: type[Cloud], description: str) -> None:
    """Serve from the command line until killed; says its port on the first line of output."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key-id", default="")
    parser.add_argument("--secret", default="")
    parser.add_argument("--bucket", action="append", default=[], metavar="NAME[@REGION]")
    parser.add_argument("--cname", action="append", default=[], metavar="BUCKET=PORT")
    parser.add_argument("--versioning", action="store_true")
    parser.add_argument("--v1-allowed", action="store_true")
    said = parser.parse_args()
    with kind(port=said.port, key_id=said.key_id, secret=said.secret) as server:
        for each in said.bucket:
            name, _, region = each.partition("@")
            server.make_bucket(
                name, region or None, versioning=said.versioning, v1_allowed=said.v1_allowed
            )
        for each in said.cname:
            name, _, port = each.partition("=")
            server.cname(name, int(port))
        print(server.port, flush=True)
        threading.Event().wait()
