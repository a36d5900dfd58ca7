"""A slow link: a TCP relay that lets a given number of bits per second through, each way.

    python -m tests.support.relay --listen PORT --to HOST:PORT --bits-per-second 1e9

All connections share one token bucket per direction, as they would share a network card.
With `--counters FILE` the bytes relayed so far are kept in FILE as two little-endian 64-bit
numbers, client to server and server to client; the file appears when the relay listens.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import mmap
import resource
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes import LOOPBACK, free_port, serving

CHUNK_BYTES = 1 << 18
BURST_SECONDS = 0.01
COUNTERS = struct.Struct("<QQ")
REPOSITORY = Path(__file__).resolve().parents[2]


class TokenBucket:
    """Bytes may pass at `rate` per second; what was unused longer than a burst ago is lost."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._paid_until = time.monotonic()

    async def take(self, size: int) -> None:
        """Wait until `size` bytes are paid for; callers are served in the order they came."""
        now = time.monotonic()
        self._paid_until = max(self._paid_until, now - BURST_SECONDS) + size / self._rate
        if self._paid_until > now:
            await asyncio.sleep(self._paid_until - now)


class Relay:
    """Carries every accepted connection to one target, counted and rated per direction."""

    def __init__(
        self, target: tuple[str, int], bits_per_second: float, counters: mmap.mmap
    ) -> None:
        self._target = target
        self._buckets = (TokenBucket(bits_per_second / 8), TokenBucket(bits_per_second / 8))
        self._counters = counters
        self._totals = [0, 0]
        self._connections: set[asyncio.Task[None]] = set()

    async def accept_forever(self, listener: socket.socket) -> None:
        """Relay each connection in a task of its own until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            client, _ = await loop.sock_accept(listener)
            task = asyncio.create_task(self._carry(client))
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)

    async def _carry(self, client: socket.socket) -> None:
        """Both directions of one connection; a failure of either side closes both."""
        server = socket.socket()
        with client, server, contextlib.suppress(OSError):
            for side in (client, server):
                side.setblocking(False)
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await asyncio.get_running_loop().sock_connect(server, self._target)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(client, server, 0))
                both.create_task(self._pump(server, client, 1))

    async def _pump(self, source: socket.socket, sink: socket.socket, direction: int) -> None:
        loop = asyncio.get_running_loop()
        buffer = memoryview(bytearray(CHUNK_BYTES))
        with contextlib.suppress(OSError):
            while size := await loop.sock_recv_into(source, buffer):
                await self._buckets[direction].take(size)
                await loop.sock_sendall(sink, buffer[:size])
                self._count(direction, size)
            sink.shutdown(socket.SHUT_WR)
            return
        for side in (source, sink):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)

    def _count(self, direction: int, size: int) -> None:
        self._totals[direction] += size
        COUNTERS.pack_into(self._counters, 0, *self._totals)


@dataclass(frozen=True)
class Link:
    """A running relay: the port clients connect to, and the file with its counters."""

    port: int
    counters: Path

    @property
    def endpoint(self) -> str:
        """The URL of the relayed HTTP server."""
        return f"http://{LOOPBACK}:{self.port}"

    def carried(self) -> tuple[int, int]:
        """Bytes relayed so far: (client to server, server to client)."""
        up, down = COUNTERS.unpack(self.counters.read_bytes())
        return up, down


@contextlib.contextmanager
def slow_link(port: int, bits_per_second: float) -> Iterator[Link]:
    """Relay a free port to the loopback `port` until the block ends."""
    with tempfile.TemporaryDirectory(prefix="stager-relay-") as name:
        link = Link(port=free_port(), counters=Path(name) / "counters")
        command = [
            *(sys.executable, "-m", "tests.support.relay"),
            *("--listen", str(link.port), "--to", f"{LOOPBACK}:{port}"),
            *("--bits-per-second", str(bits_per_second), "--counters", str(link.counters)),
        ]
        log = Path(name) / "relay.log"
        with serving(command, log=log, ready=link.counters.exists, directory=REPOSITORY):
            yield link


def _open_counters(path: Path | None) -> mmap.mmap:
    if path is None:
        return mmap.mmap(-1, COUNTERS.size)
    hidden = path.with_name(f".{path.name}")
    hidden.write_bytes(bytes(COUNTERS.size))
    with hidden.open("r+b") as file:
        counters = mmap.mmap(file.fileno(), COUNTERS.size)
    hidden.rename(path)
    return counters


async def _serve(options: argparse.Namespace) -> None:
    host, _, port = options.to.rpartition(":")
    with socket.create_server((LOOPBACK, options.listen), backlog=1024) as listener:
        listener.setblocking(False)
        counters = _open_counters(options.counters)
        relay = Relay((host, int(port)), options.bits_per_second, counters)
        await relay.accept_forever(listener)


def main() -> None:
    """Relay until interrupted."""
    parser = argparse.ArgumentParser(prog="tests.support.relay", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--listen", type=int, required=True, metavar="PORT")
    parser.add_argument("--to", required=True, metavar="HOST:PORT")
    parser.add_argument("--bits-per-second", type=float, default=1e9)
    parser.add_argument("--counters", type=Path, metavar="FILE")
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(options))


if __name__ == "__main__":
    main()
