"""What another tool said the bytes of a file are, and what they turned out to be.

    md5            DVC 3 and later, of the bytes
    md5-dos2unix   DVC 2 and earlier, of a text file with LF in place of CRLF
    sha256         Git LFS, and large files of the Hugging Face hub
    git-sha1       a Git blob: "blob <size>" and a NUL go before the bytes
    git-sha256     the same in a repository with the newer object format

`md5-dos2unix` cannot tell CRLF from LF. A promise that was not looked at counts as broken.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

DIGITS = {"md5": 32, "md5-dos2unix": 32, "sha256": 64, "git-sha1": 40, "git-sha256": 64}

BLOCK_BYTES = 1024 * 1024  # DVC read that much at a time, and CRLF across two blocks stayed
HEAD_BYTES = 512  # of a block decide whether it is text
TEXT = bytes(range(32, 127)) + b"\n\r\t\f\b"
LARGEST_SHARE_OF_OTHERS = 0.30


class Hasher(Protocol):
    """What hashlib's objects can do."""

    def update(self, data: bytes | memoryview, /) -> None:
        """Takes the next bytes."""
        ...

    def hexdigest(self) -> str:
        """The digest of all that was given."""
        ...


@dataclass(slots=True)
class Promise:
    """Algorithm and expected digest; `actual` is empty until the bytes were read."""

    algorithm: str
    expected: str
    actual: str = ""

    def hasher(self, size: int) -> Hasher:
        """A fresh hasher for a file of `size` bytes."""
        if self.algorithm == "md5-dos2unix":
            return _Dos2Unix(self.expected)
        name = self.algorithm.removeprefix("git-")
        hasher = _NEW[name]()
        if name != self.algorithm:
            hasher.update(b"blob %d\0" % size)
        return hasher

    def settle(self, hasher: Hasher) -> None:
        """Takes note of what was read."""
        self.actual = hasher.hexdigest()

    @property
    def is_kept(self) -> bool:
        """Whether the bytes were read and are the promised ones."""
        return self.actual == self.expected

    def finding(self, path: str) -> str:
        """What is wrong, for a listing of offenders."""
        actual = self.actual or "nobody read it"
        return f"{path!r}: {self.algorithm}: expected {self.expected}, got {actual}"


def is_hex(text: object, digits: int) -> bool:
    """Whether `text` is that many lower-case hexadecimal digits."""
    return isinstance(text, str) and len(text) == digits and not text.strip("0123456789abcdef")


def _md5() -> hashlib._Hash:
    return hashlib.md5(usedforsecurity=False)


def _sha1() -> hashlib._Hash:
    return hashlib.sha1(usedforsecurity=False)


_NEW: dict[str, Callable[[], hashlib._Hash]] = {
    "md5": _md5,
    "sha1": _sha1,
    "sha256": hashlib.sha256,
}


class _Dos2Unix:
    """Block by block as DVC did it. Old releases asked the first block whether the file is
    text, later ones every block; where that makes two digests, either is one that DVC gave.
    """

    def __init__(self, expected: str) -> None:
        self._expected = expected
        self._held = b""
        self._is_text: bool | None = None  # as the first block says
        self._by_block = _md5()
        self._by_file: hashlib._Hash | None = None  # None as long as both are the same

    def update(self, data: bytes | memoryview, /) -> None:
        """Takes the next bytes."""
        view = memoryview(b"".join((self._held, data)) if self._held else data)
        whole = len(view) - len(view) % BLOCK_BYTES
        for at in range(0, whole, BLOCK_BYTES):
            self._block(bytes(view[at : at + BLOCK_BYTES]))
        self._held = bytes(view[whole:])

    def hexdigest(self) -> str:
        """The digest that was expected if one of the two is it."""
        if self._held:
            self._block(self._held)
            self._held = b""
        by_block = self._by_block.hexdigest()
        by_file = by_block if self._by_file is None else self._by_file.hexdigest()
        return by_file if by_file == self._expected else by_block

    def _block(self, block: bytes) -> None:
        is_text = _is_text(block[:HEAD_BYTES])
        if self._is_text is None:
            self._is_text = is_text
        unix = block.replace(b"\r\n", b"\n")
        if self._by_file is None and is_text != self._is_text and unix != block:
            self._by_file = self._by_block.copy()
        if self._by_file is not None:
            self._by_file.update(unix if self._is_text else block)
        self._by_block.update(unix if is_text else block)


def _is_text(head: bytes) -> bool:
    if b"\0" in head:
        return False
    return len(head.translate(None, TEXT)) <= LARGEST_SHARE_OF_OTHERS * len(head)
