"""The two ways SeaweedFS keeps text, because one of them decides what a comparison shows.

As it comes, SeaweedFS gzips text before storing it and unzips it for every read. On a machine
whose cores it shares with the peers, that slows down those who send JSONL as it is, and those
who compress first gain twice. What goes to an encrypted bucket is stored as it was sent, as
cloud stores do; encrypting costs next to nothing. Comparisons of JSONL are made on both.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.s3_server import S3Server


@dataclass(frozen=True)
class Store:
    """A kind of bucket: its name and how a title speaks of it."""

    bucket: str
    title: str
    encrypted: bool

    def make(self, server: S3Server) -> str:
        """Create the bucket and return its name."""
        return server.make_bucket(self.bucket, encrypted=self.encrypted)


STORES = (
    Store("gzipping", "SeaweedFS that gzips text at rest", encrypted=False),
    Store("as-sent", "SeaweedFS that stores bytes as sent", encrypted=True),
)
