"""Where the values of a JSON array lie in a file, without parsing them.

One regular expression finds what matters to nesting: strings, brackets, commas. Memory
holds one token and one block, so a file of any size passes; a value is parsed by whoever
reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

BLOCK = 4 << 20
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+("?)|[][{},]|[^][{},"\s]+', re.DOTALL)
ENDS = (b"[", b"]", b"{", b"}", b",", b'"')


class MalformedArray(Exception):
    """Not an array of values: why, and at which byte of what was read."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.reason, self.offset = reason, offset


class Token(NamedTuple):
    """A bracket, comma, string or bare word, and where it lies in the file."""

    text: bytes
    start: int
    end: int


def tokens(file: BinaryIO) -> Iterator[Token]:
    """The tokens from the file's position to its end; offsets count from there.

    A string that is not closed is the last token.
    """
    base, rest = 0, b""
    while block := file.read(BLOCK):
        buffer = rest + block
        keep = len(buffer)
        for match in TOKEN.finditer(buffer):
            if match.group(1) == b"" or (match.end() == keep and match.group()[-1:] not in ENDS):
                keep = match.start()  # it may go on behind the border
                break
            yield Token(match.group(), base + match.start(), base + match.end())
        base, rest = base + keep, buffer[keep:]
    for match in TOKEN.finditer(rest):
        yield Token(match.group(), base + match.start(), base + match.end())


def elements(file: BinaryIO, part: bool = False) -> Iterator[tuple[int, int]]:
    """(start, end) of each value of the array in the file, or of the one value in it.

    With `part` it is a part of an array, cut between values: no bracket before them.
    MalformedArray names the first byte that is wrong.
    """
    stream = _Values(began=part)
    for token in tokens(file):
        span = stream.take(token)
        if span is not None:
            yield span
    span = stream.end()
    if span is not None:
        yield span


class _Values:
    """The state between tokens."""

    def __init__(self, began: bool) -> None:
        self.bracketed = False
        self.closed = False
        self.depth = 0
        self.value: tuple[int, int] | None = None  # the value read, or begun
        self.began = began
        self.last = 0

    def take(self, token: Token) -> tuple[int, int] | None:
        """Takes the next token; the value that it ends, if it ends one."""
        text = token.text
        self.last = token.end
        if self.depth:
            self._inside(token)
            return None
        if self.closed:
            raise MalformedArray("something follows the array", token.start)
        if not self.began:
            self.began = True
            if text == b"[":
                self.bracketed = True
                return None
        if text == b"," or text == b"]":
            return self._separated(token)
        if text == b"}":
            raise MalformedArray("a } too many", token.start)
        if self.value is not None:
            raise MalformedArray("a comma is missing between two values", token.start)
        self.value = (token.start, token.end)
        self.depth = 1 if text in b"{[" else 0
        return None

    def _inside(self, token: Token) -> None:
        if len(token.text) == 1:
            if token.text in b"{[":
                self.depth += 1
            elif token.text in b"}]":
                self.depth -= 1
        if self.depth == 0 and self.value is not None:
            self.value = (self.value[0], token.end)

    def _separated(self, token: Token) -> tuple[int, int] | None:
        span, self.value = self.value, None
        if token.text == b"]":
            if not self.bracketed:
                raise MalformedArray("a ] too many", token.start)
            self.closed = True
        elif span is None:
            raise MalformedArray("a comma without a value before it", token.start)
        return span

    def end(self) -> tuple[int, int] | None:
        """The last value of a part without brackets; MalformedArray in the middle of things."""
        if self.depth or (self.bracketed and not self.closed):
            raise MalformedArray("the array is not closed", self.last)
        return self.value
