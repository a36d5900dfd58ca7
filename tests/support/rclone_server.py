"""`rclone serve s3`: an S3 with quirks, kept because users meet it.

Measured (rclone 1.75.2 with --vfs-cache-mode off, in tests/contract/clouds/test_s3_servers.py):

- `If-None-Match: *` and `If-Match` are ignored, on PUT and on CompleteMultipartUpload: every
  write answers 200, and all of several concurrent creators win.
- `If-Match` on GET is ignored too, so that nothing pins ranged reads to one object.
- A ranged GET is answered with the range and Content-Range, but with status 200; obstore
  refuses that ("Received non-partial response when range requested").
- `folder/` is listed as `folder`; a key with an empty segment (`a//b`) is refused.
- Signatures are checked. An object's ETag is the MD5 of its bytes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from tests.support.processes import LOOPBACK, answers, find_program, free_port, serving
from tests.support.s3_server import S3Server


@contextlib.contextmanager
def rclone(directory: Path) -> Iterator[S3Server]:
    """Serve the folders of `directory` (made if missing) as buckets until the block ends."""
    data = directory / "data"
    data.mkdir(parents=True, exist_ok=True)
    port = free_port()
    server = S3Server(
        endpoint=f"http://{LOOPBACK}:{port}",
        access_key="stager-test",
        secret_key="stager-test-secret",
    )
    command = [
        str(find_program("rclone")),
        *("serve", "s3", str(data), "--config", str(directory / "rclone.conf")),
        *("--addr", f"{LOOPBACK}:{port}"),
        *("--auth-key", f"{server.access_key},{server.secret_key}"),
        *("--vfs-cache-mode", "off", "--no-modtime"),
    ]
    with serving(
        command,
        log=directory / "rclone.log",
        ready=lambda: answers(server.endpoint),
    ):
        yield server
