"""nginx serving a directory as static files: the fastest plain object store for reading.

`GET /bucket/key` with Range works as S3 clients in path style send it. Nothing can be listed
or written, signatures are not checked, and a missing key is a 404.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.support.processes import LOOPBACK, answers, find_program, free_port, serving

SYSTEM_PROGRAMS = Path("/usr/sbin")

CONFIGURATION = """\
{user}
daemon off;
worker_processes 2;
pid {prefix}/nginx.pid;
error_log {prefix}/error.log warn;
events {{ worker_connections 4096; multi_accept on; }}
http {{
  access_log off;
  default_type application/octet-stream;
  sendfile on;
  sendfile_max_chunk 4m;
  tcp_nopush on;
  keepalive_timeout 300s;
  keepalive_requests 10000000;
  client_body_temp_path {prefix}/body;
  proxy_temp_path {prefix}/proxy;
  fastcgi_temp_path {prefix}/fastcgi;
  uwsgi_temp_path {prefix}/uwsgi;
  scgi_temp_path {prefix}/scgi;
  server {{
    listen {loopback}:{port} backlog=4096 reuseport;
    root {root};
  }}
}}
"""


@contextlib.contextmanager
def nginx(root: Path) -> Iterator[str]:
    """Serve the files under `root` until the block ends; yields the endpoint URL.

    Raises ServerFailed when nginx is not installed.
    """
    program = find_program("nginx", SYSTEM_PROGRAMS)
    port = free_port()
    endpoint = f"http://{LOOPBACK}:{port}"
    with tempfile.TemporaryDirectory(prefix="stager-nginx-") as name:
        prefix = Path(name)
        configuration = prefix / "nginx.conf"
        configuration.write_text(
            CONFIGURATION.format(
                user=_user_line(), prefix=prefix, loopback=LOOPBACK, port=port, root=root
            ),
            encoding="utf-8",
        )
        command = [str(program), "-p", name, "-c", str(configuration), "-e", f"{name}/error.log"]
        with serving(command, log=prefix / "output.log", ready=lambda: answers(endpoint)):
            yield endpoint


def _user_line() -> str:
    """Started by root, nginx would drop to a user that cannot read a private directory."""
    return "" if os.geteuid() else f"user {pwd.getpwuid(0).pw_name};"
