"""The receipt: what is staged on this machine.

    {"format": 1, "name": ..., "version": ..., "tree": "<digest>", "placement": "<key>",
     "files": n, "bytes_raw": n, "remote": "<url>", "staged_at": "<UTC time>",
     "signature": {"files": n, "bytes": n, "oldest_ns": t, "newest_ns": t}}

The signature is the cheap proof that nothing was edited since: number of files, sum of
their sizes, and the span of their modification times. An edit in place moves a time past
`newest_ns`, a deletion or truncation changes a sum. See docs/decisions/0003.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields

from stager.errors import ManifestInvalid

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Signature:
    """Stat facts of a folder of files; times in nanoseconds since the epoch."""

    files: int
    bytes: int
    oldest_ns: int
    newest_ns: int

    def covers(self, size: int, mtime_ns: int, expected_size: int) -> bool:
        """Whether one file still has the size it was staged with and no later edit."""
        return size == expected_size and self.oldest_ns <= mtime_ns <= self.newest_ns


@dataclass(frozen=True, slots=True)
class Receipt:
    """One version, complete and verified when this was written."""

    name: str
    version: str
    tree: str
    placement: str
    files: int
    bytes_raw: int
    remote: str
    staged_at: str
    signature: Signature
    format: int = FORMAT

    def encode(self) -> bytes:
        """The bytes of the receipt file."""
        return json.dumps(asdict(self), sort_keys=True, indent=1, ensure_ascii=False).encode()


def decode(data: bytes, where: str) -> Receipt:
    """The receipt in `data`; ManifestInvalid naming `where` when it is not one."""
    try:
        document = json.loads(data)
        if document["format"] != FORMAT:
            raise ValueError(f"format {document['format']!r} is not known")
        document["signature"] = Signature(**document["signature"])
        receipt = Receipt(**document)
        _check_types(receipt)
        return receipt
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        reason = str(problem) or type(problem).__name__
        raise ManifestInvalid(where=where, kind="receipt", reason=reason) from None


def _check_types(receipt: Receipt) -> None:
    for value in (receipt, receipt.signature):
        for field in fields(value):
            expected = str if field.type == "str" else int if field.type == "int" else Signature
            if not isinstance(getattr(value, field.name), expected):
                raise ValueError(f"{field.name}: {expected.__name__} expected")
    receipt.encode()  # a lone surrogate in any text is a UnicodeEncodeError, a ValueError
