"""A real S3 server for tests: SeaweedFS in one process, on loopback, with one identity.

`weed mini` is used because it answers within a second; `weed server` needs more than two.
Its memory grows with what passes through it, and its files live in the given directory.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path

from stager.storage.credentials.values import CredentialOptions
from stager.storage.secret import Secret
from tests.support.processes import (
    LOOPBACK,
    ServerFailed,
    answers,
    find_program,
    free_ports,
    is_free,
    serving,
)

ROLES = ("master", "volume", "filer", "s3")
GRPC_OFFSET = 10_000  # the admin worker dials admin port + 10000, whatever the flag says
SOCKETS = Path("/tmp")  # where weed puts its gRPC sockets, whatever TMPDIR says
VOLUME_MEGABYTES = 30_000  # far from full, so that maintenance never picks a volume
VOLUMES = 2000  # every bucket takes seven
GROWTH = {"WEED_MASTER_VOLUME_GROWTH_COPY_1": "7"}  # as `weed server`; mini would write to one
ENCRYPTION = b"""\
<ServerSideEncryptionConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Rule>\
<ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm>\
</ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>"""

NEXT_KEYS = ("stager-test-next", "stager-test-next-secret")  # of the same identity, for rotations


@dataclass(frozen=True)
class S3Server:
    """Where an S3 server answers, and the keys of the identity that may do everything."""

    endpoint: str
    access_key: str
    secret_key: str
    region: str = "us-east-1"

    def environment(self) -> dict[str, str]:
        """The variables with which S3 clients reach this server."""
        return {
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ALLOW_HTTP": "true",
        }

    def credentials(self) -> CredentialOptions:
        """The same keys, for stager's own options."""
        return CredentialOptions(
            access_key_id=self.access_key, secret_access_key=Secret(self.secret_key)
        )

    def make_bucket(self, name: str, *, encrypted: bool = False) -> str:
        """Create the bucket, or keep the one that exists, and return its name.

        Names have at least three characters; the server's refusal is raised as ServerFailed.
        SeaweedFS gzips text that it stores, at a cost that no cloud store passes on; what
        goes to an `encrypted` bucket it stores as it was sent.
        """
        self._put(name, query="", body=b"")
        if encrypted:
            self._put(name, query="encryption=", body=ENCRYPTION)
        return name

    def _put(self, bucket: str, query: str, body: bytes) -> None:
        path = f"/{urllib.parse.quote(bucket)}"
        request = urllib.request.Request(
            f"{self.endpoint}{path}?{query}".rstrip("?"),
            method="PUT",
            data=body,
            headers=self._signed(path, query, body),
        )
        try:
            with urllib.request.urlopen(request, timeout=30):
                return
        except urllib.error.HTTPError as refusal:
            if refusal.code == HTTPStatus.CONFLICT:
                return
            answer = refusal.read().decode(errors="replace")
            raise ServerFailed(f"bucket {bucket!r}: {refusal.code} {answer}") from refusal

    def _signed(self, path: str, query: str, body: bytes) -> dict[str, str]:
        """Headers of a PUT, signed by AWS Signature Version 4."""
        moment = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        headers = {
            "host": self.endpoint.removeprefix("http://"),
            "x-amz-content-sha256": hashlib.sha256(body).hexdigest(),
            "x-amz-date": moment,
        }
        names = ";".join(headers)
        lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
        content = headers["x-amz-content-sha256"]
        canonical = f"PUT\n{path}\n{query}\n{lines}\n{names}\n{content}"
        scope = f"{moment[:8]}/{self.region}/s3/aws4_request"
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        key = f"AWS4{self.secret_key}".encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        text = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{digest}"
        headers["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={self.access_key}/{scope}, "
            f"SignedHeaders={names}, Signature={hmac.digest(key, text.encode(), 'sha256').hex()}"
        )
        return headers


@contextlib.contextmanager
def seaweedfs(directory: Path) -> Iterator[S3Server]:
    """Serve S3 from `directory` (made if missing) until the block ends."""
    data = directory / "data"
    data.mkdir(parents=True, exist_ok=True)
    ports = _Ports.choose()
    server = S3Server(
        endpoint=f"http://{LOOPBACK}:{ports.http['s3']}",
        access_key="stager-test",
        secret_key="stager-test-secret",
    )
    identities = directory / "s3.json"
    identities.write_text(_identities(server), encoding="utf-8")
    command = [
        str(find_program("weed")),
        *("-logtostderr=true", "mini"),
        *(f"-dir={data}", f"-ip={LOOPBACK}", f"-ip.bind={LOOPBACK}"),
        *("-master.telemetry=false", "-admin.ui=false", "-webdav=false"),
        *("-s3.port.iceberg=0", "-s3.port.lance=0", f"-s3.config={identities}"),
        *(f"-volume.max={VOLUMES}", f"-master.volumeSizeLimitMB={VOLUME_MEGABYTES}"),
        "-filer.localSocket=filer.sock",
        "-s3.localSocket=s3.sock",
        *ports.flags(),
    ]
    with contextlib.ExitStack() as stack:
        stack.callback(ports.remove_sockets)
        stack.enter_context(
            serving(
                command,
                log=directory / "weed.log",
                directory=directory,
                environment=GROWTH,
                ready=lambda: answers(server.endpoint),
            )
        )
        yield server


@dataclass(frozen=True)
class _Ports:
    """One HTTP and one gRPC port for every role of the process."""

    http: dict[str, int]
    grpc: dict[str, int]

    @classmethod
    def choose(cls) -> _Ports:
        numbers = free_ports(2 * len(ROLES))
        admin = _admin_port()
        return cls(
            http={**dict(zip(ROLES, numbers, strict=False)), "admin": admin},
            grpc={
                **dict(zip(ROLES, numbers[len(ROLES) :], strict=True)),
                "admin": admin + GRPC_OFFSET,
            },
        )

    def flags(self) -> list[str]:
        return [
            *(f"-{role}.port={port}" for role, port in self.http.items()),
            *(f"-{role}.port.grpc={port}" for role, port in self.grpc.items()),
        ]

    def remove_sockets(self) -> None:
        """Delete the socket files a killed process leaves behind."""
        for role, port in self.grpc.items():
            (SOCKETS / f"seaweedfs-{role}-grpc-{port}.sock").unlink(missing_ok=True)


def _admin_port() -> int:
    for _ in range(100):
        (port,) = free_ports(1)
        if port + GRPC_OFFSET < 65_536 and is_free(port + GRPC_OFFSET):
            return port
    raise ServerFailed(f"no free pair of ports {GRPC_OFFSET} apart")


def _identities(server: S3Server) -> str:
    pairs = ((server.access_key, server.secret_key), NEXT_KEYS)
    keys = [{"accessKey": key, "secretKey": secret} for key, secret in pairs]
    actions = ["Admin", "Read", "Write", "List", "Tagging"]
    return json.dumps(
        {"identities": [{"name": "stager-test", "credentials": keys, "actions": actions}]}
    )
