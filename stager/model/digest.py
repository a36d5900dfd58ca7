"""The digest of content.

`blake3:<64 hex>` for bytes that were read (https://github.com/BLAKE3-team/BLAKE3-specs),
`etag:<64 hex>` for an object recorded without reading it: the blake3 of its URL, size and
ETag. The second kind names a trust in the store, not content, and is never taken as proof.
"""

from __future__ import annotations

from typing import NamedTuple

from blake3 import blake3

DIGEST_BYTES = 32
STRONG = "blake3"
WEAK = "etag"


class Digest(NamedTuple):
    """Algorithm name and 32 raw bytes; prints and parses as `algorithm:hex`."""

    raw: bytes
    algorithm: str = STRONG

    @property
    def hex(self) -> str:
        """64 lower-case hexadecimal digits."""
        return self.raw.hex()

    @property
    def is_proof(self) -> bool:
        """Whether equal digests mean equal bytes."""
        return self.algorithm == STRONG

    def __str__(self) -> str:
        return f"{self.algorithm}:{self.raw.hex()}"

    @classmethod
    def parse(cls, text: str) -> Digest:
        """The inverse of str(); ValueError for anything else."""
        algorithm, _, digits = text.partition(":")
        raw = bytes.fromhex(digits)
        if algorithm not in (STRONG, WEAK) or len(raw) != DIGEST_BYTES or raw.hex() != digits:
            raise ValueError(f"not a digest: {text[:80]!r}")
        return cls(raw, algorithm)


def digest_of(data: bytes | bytearray | memoryview) -> Digest:
    """The blake3 of `data`; releases the GIL while hashing."""
    return Digest(blake3(data).digest())


def weak_digest(url: str, size: int, etag: str) -> Digest:
    """What stands for an object that was recorded without reading it."""
    return Digest(blake3(f"{url}\n{size}\n{etag}".encode()).digest(), WEAK)
