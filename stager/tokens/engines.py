"""Texts to ids: HF tokenizers is the reference, fastokens the fast engine.

Both give the same value: the ids of all texts in one array, and where each text's begin.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from stager.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    import fastokens
    import tokenizers

Ids = npt.NDArray[np.int32]
Starts = npt.NDArray[np.int64]


class Encoded(NamedTuple):
    """`ids` int32 of all texts; text i has ids[starts[i]:starts[i + 1]]."""

    ids: Ids
    starts: Starts


class Engine(Protocol):
    """Encodes texts.

    With `special`, what the tokenizer puts around a text (BOS) is added; with `plain`,
    special tokens written in a text are text.
    """

    def encode(self, texts: Sequence[str], special: bool = False, plain: bool = False) -> Encoded:
        """The ids of each text."""


class Reference:
    """HF tokenizers."""

    def __init__(self, path: Path) -> None:
        import tokenizers

        self.tokenizer: tokenizers.Tokenizer = tokenizers.Tokenizer.from_file(str(path))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def encode(self, texts: Sequence[str], special: bool = False, plain: bool = False) -> Encoded:
        """The ids of each text."""
        self.tokenizer.encode_special_tokens = plain
        found = self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=special)
        ids = [encoding.ids for encoding in found]
        starts = np.zeros(len(ids) + 1, np.int64)
        np.cumsum([len(each) for each in ids], out=starts[1:])
        flat = np.fromiter((one for each in ids for one in each), np.int32, int(starts[-1]))
        return Encoded(flat, starts)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """The (start, end) characters of each id of a text, as the library tells them."""
        self.tokenizer.encode_special_tokens = False
        found: list[tuple[int, int]] = self.tokenizer.encode(text, add_special_tokens=False).offsets
        return found


class Fast:
    """fastokens. Its threads are RAYON_NUM_THREADS; loading starts none, so a fork is safe."""

    def __init__(self, path: Path) -> None:
        try:
            import fastokens
        except ImportError as problem:
            raise MissingExtra(
                purpose="the fast engine", package="fastokens", extra="tokens"
            ) from problem
        self.tokenizer: fastokens._native.Tokenizer = fastokens._native.Tokenizer.from_file(
            str(path)
        )

    def encode(self, texts: Sequence[str], special: bool = False, plain: bool = False) -> Encoded:
        """The ids of each text."""
        ids, starts = self.tokenizer.encode_batch_flat(
            list(texts), add_special_tokens=special, split_special_tokens=plain
        )
        flat = np.frombuffer(ids, np.dtype("<u4")).astype(np.int32)
        return Encoded(flat, np.frombuffer(starts, np.dtype("<u8")).astype(np.int64))


class Vocabulary:
    """What a tokenizer.json says of its tokens, without either engine."""

    def __init__(self, path: Path) -> None:
        """ConfigError where the file is not a tokenizer.json."""
        try:
            found = json.loads(path.read_bytes())
            self._model: dict[str, int] = found["model"]["vocab"]
            self.added: list[dict[str, object]] = found.get("added_tokens", [])
        except (OSError, ValueError, KeyError, TypeError) as problem:
            reason = f"not a tokenizer.json: {problem}"
            raise ConfigError(key="--tokenizer", origin=str(path), reason=reason) from problem
        self._decoder = json.dumps(found.get("decoder"))

    @cached_property
    def special(self) -> frozenset[str]:
        """The texts of special tokens: control tokens, which data must not turn into."""
        return frozenset(str(each["content"]) for each in self.added if each.get("special"))

    @cached_property
    def special_pattern(self) -> re.Pattern[str] | None:
        """Finds the texts of special tokens, longer ones first; None when there are none."""
        longest = sorted(self.special, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest))) if longest else None

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64] | None:
        """Bytes of text behind each id; None unless every token is written byte by byte.

        Byte-level BPE writes each byte as one character (GPT-2's table), so a token's
        characters are its bytes; added tokens are their own text.
        """
        if '"ByteLevel"' not in self._decoder:
            return None
        added = {int(str(each["id"])): str(each["content"]) for each in self.added}
        size = max([*self._model.values(), *added]) + 1
        sizes = np.zeros(size, np.int64)
        for text, number in self._model.items():
            sizes[number] = len(text)
        for number, text in added.items():
            sizes[number] = len(text.encode())
        return sizes
