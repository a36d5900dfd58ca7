"""The vendors' host names as names of this machine, for clients that know no proxy.

aiohttp (aiooss2, and s3fs below it) ignores `http_proxy` unless told otherwise. Such a client
is given the vendor's endpoint with the server's port, and the name is resolved to loopback.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import Any
from unittest import mock

from tests.support.clouds.http_server import LOOPBACK

SUFFIXES = (".aliyuncs.com", ".myqcloud.com", ".tencentcos.cn")


@contextlib.contextmanager
def vendors_on_loopback() -> Iterator[None]:
    """In this process, every host of a vendor is 127.0.0.1."""
    real = socket.getaddrinfo

    def resolve(host: Any, *arguments: Any, **named: Any) -> Any:
        ours = isinstance(host, str) and host.endswith(SUFFIXES)
        return real(LOOPBACK if ours else host, *arguments, **named)

    with mock.patch("socket.getaddrinfo", resolve):
        yield
