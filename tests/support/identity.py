"""The servers that hand out credentials, on loopback: metadata of three clouds, token services.

One HTTP server answers the paths of all: EC2 (version 2 only), ECS (hardened or not), CVM,
AWS containers, a credentials URI, and the STS actions of AWS, Aliyun and Tencent. The shapes
are those of the vendors' documents; tests/contract/test_credentials.py reads them with the
vendors' own clients.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.support.processes import LOOPBACK

SESSION = "metadata-session-0123456789"
ROLES = {"iam": "train role", "ram": "train-role", "cam": "train-role"}


@dataclass
class Cloud:
    """What is handed out, what was asked, and how the server misbehaves.

    `statuses` answers a path with a status alone, `slow` waits before each answer (seconds).
    With `tokens` off the metadata server gives no session; with `hardened` on ECS wants one.
    """

    url: str = ""
    key_id: str = "ISSUED-KEY-ID-01"
    secret: str = "issued-secret-0123456789abcdef"
    token: str = "issued/token+0123456789abcdef=="
    lifetime: float = 3600.0
    expires: float = 0.0
    requests: list[tuple[str, str]] = field(default_factory=list)
    forms: list[dict[str, str]] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)
    replies: dict[str, bytes] = field(default_factory=dict)
    tokens: bool = True
    hardened: bool = True
    slow: float = 0.0

    def rotate(self, number: int = 2) -> None:
        """Others from now on."""
        self.key_id = f"ISSUED-KEY-ID-{number:02d}"
        self.secret = f"issued-secret-{number:02d}23456789abcdef"
        self.token = f"issued/token+{number:02d}23456789abcdef=="
        self.expires = 0.0

    @property
    def ends(self) -> float:
        """Until when they hold, whole seconds since the epoch."""
        return float(int(self.expires or time.time() + self.lifetime))

    @property
    def ends_text(self) -> str:
        """The same as the vendors write it."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.ends))

    def asked(self, part: str) -> int:
        """How many requests had this in their path."""
        return sum(part in path for _, path in self.requests)


@contextlib.contextmanager
def identity_server() -> Iterator[Cloud]:
    """Serves until the block ends."""
    cloud = Cloud()
    handler = type("Handler", (_Handler,), {"cloud": cloud})
    with _Server((LOOPBACK, 0), handler) as server:
        cloud.url = f"http://{LOOPBACK}:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield cloud
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Nothing: a client that hangs up is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    cloud: Cloud
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing: what was asked is in `requests`."""

    def do_PUT(self) -> None:
        """A session of the metadata server."""
        if not self._begun():
            return
        asked = (
            self.headers.get("x-aws-ec2-metadata-token-ttl-seconds"),
            self.headers.get("x-aliyun-ecs-metadata-token-ttl-seconds"),
        )
        if not self.cloud.tokens or not any(asked):
            self._answer(403, b"")
        else:
            self._answer(200, SESSION.encode())

    def do_GET(self) -> None:
        """Metadata, or a token service asked by query."""
        if not self._begun():
            return
        url = urlsplit(self.path)
        form = dict(parse_qsl(url.query))
        if "Action" in form:
            self._assume(form)
        elif "/security-credentials/" in url.path:
            self._role(url.path)
        elif url.path in ("/container", "/uri", "/v2/credentials/task"):
            self._json(_keys(self.cloud, "aws" if url.path != "/uri" else "ram"))
        else:
            self._answer(404, b"")

    def do_POST(self) -> None:
        """A token service asked by form, or by JSON."""
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if not self._begun():
            return
        if action := self.headers.get("x-tc-action"):
            self._assume({**json.loads(body), "Action": f"TC{action}"})
        else:
            self._assume({**dict(parse_qsl(urlsplit(self.path).query + "&" + body.decode()))})

    def _begun(self) -> bool:
        """Notes the request; False when it was answered by what is scripted for its path."""
        path = urlsplit(self.path).path
        self.cloud.requests.append((self.command, self.path))
        time.sleep(self.cloud.slow)
        if path in self.cloud.replies:
            self._answer(self.cloud.statuses.get(path, 200), self.cloud.replies[path])
        elif path in self.cloud.statuses:
            self._answer(self.cloud.statuses[path], b"", location=f"{self.cloud.url}/uri")
        return path not in self.cloud.replies and path not in self.cloud.statuses

    def _role(self, path: str) -> None:
        kind = next(kind for kind in ROLES if f"/{kind}/" in path)
        given = self.headers.get("x-aws-ec2-metadata-token") or self.headers.get(
            "x-aliyun-ecs-metadata-token"
        )
        wanted = kind == "iam" or (kind == "ram" and self.cloud.hardened)
        if wanted and given != SESSION:
            self._answer(401, b"")
        elif path.endswith("/"):
            self._answer(200, ROLES[kind].encode())
        else:
            self._json(_keys(self.cloud, kind))

    def _assume(self, form: dict[str, str]) -> None:
        self.cloud.forms.append(form)
        action = form.get("Action", "")
        if action == "AssumeRoleWithWebIdentity":
            self._answer(200, _aws_xml(self.cloud).encode(), "text/xml")
        elif action == "AssumeRoleWithOIDC":
            self._json({"RequestId": "1", "Credentials": _keys(self.cloud, "ram")})
        elif action == "TCAssumeRoleWithWebIdentity":
            found = _keys(self.cloud, "cam")
            inner = {key: found[key] for key in ("TmpSecretId", "TmpSecretKey", "Token")}
            ends = int(self.cloud.ends)
            self._json({"Response": {"Credentials": inner, "ExpiredTime": ends, "RequestId": "1"}})
        else:
            self._answer(400, b"")

    def _json(self, value: dict[str, Any]) -> None:
        self._answer(200, json.dumps(value).encode(), "application/json")

    def _answer(
        self, status: int, body: bytes, kind: str = "text/plain", location: str = ""
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if 300 <= status < 400:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)


def _keys(cloud: Cloud, kind: str) -> dict[str, Any]:
    """The answer's fields under the names of one vendor."""
    if kind == "cam":
        names, more = ("TmpSecretId", "TmpSecretKey", "Token"), {"ExpiredTime": int(cloud.ends)}
    elif kind == "ram":
        names, more = ("AccessKeyId", "AccessKeySecret", "SecurityToken"), {}
    else:
        names, more = ("AccessKeyId", "SecretAccessKey", "Token"), {"Type": "AWS-HMAC"}
    found = dict(zip(names, (cloud.key_id, cloud.secret, cloud.token), strict=True))
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {**found, **more, "Expiration": cloud.ends_text, "Code": "Success", "LastUpdated": now}


def _aws_xml(cloud: Cloud) -> str:
    return (
        '<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">'
        "<AssumeRoleWithWebIdentityResult><Credentials>"
        f"<AccessKeyId>{cloud.key_id}</AccessKeyId>"
        f"<SecretAccessKey>{cloud.secret}</SecretAccessKey>"
        f"<SessionToken>{cloud.token}</SessionToken>"
        f"<Expiration>{cloud.ends_text}</Expiration>"
        "</Credentials></AssumeRoleWithWebIdentityResult>"
        "<ResponseMetadata><RequestId>1</RequestId></ResponseMetadata>"
        "</AssumeRoleWithWebIdentityResponse>"
    )
