"""moto's server as a second S3, in a process of its own: the dialect as AWS documents it.

Measured (moto 5.2.5, in tests/contract/clouds/test_s3_servers.py):

- `If-None-Match: *` and `If-Match` on PUT are honoured, 412 PreconditionFailed, and on
  CompleteMultipartUpload too. Of concurrent creators of a key exactly one won, every time.
- Ranges are 206; `If-Match` on GET is honoured.
- Keys come back as they are, `folder/` and `a//b` too.
- Signatures are not checked: any secret will do.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.support.processes import LOOPBACK, answers, free_port, serving
from tests.support.s3_server import S3Server

# `moto_server` is a script beside the interpreter; this is what it runs.
PROGRAM = "from moto.server import main; import sys; main(sys.argv[1:])"


@contextlib.contextmanager
def moto(directory: Path) -> Iterator[S3Server]:
    """Serve S3 from the memory of a new process until the block ends; its log in `directory`."""
    port = free_port()
    server = S3Server(
        endpoint=f"http://{LOOPBACK}:{port}",
        access_key="stager-test",
        secret_key="stager-test-secret",
    )
    command = [sys.executable, "-c", PROGRAM, "-H", LOOPBACK, "-p", str(port)]
    with serving(
        command,
        log=directory / "moto.log",
        ready=lambda: answers(f"{server.endpoint}/moto-api/"),
    ):
        yield server
