"""model/digest.py"""

from __future__ import annotations

import contextlib

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from stager.model.digest import Digest, digest_of, weak_digest


@given(st.binary())
def test_is_the_blake3_of_the_bytes(data: bytes) -> None:
    assert digest_of(data).raw == blake3(data).digest()
    assert digest_of(bytearray(data)) == digest_of(memoryview(data)) == digest_of(data)


def test_of_nothing_is_the_published_value() -> None:
    assert digest_of(b"").hex.startswith("af1349b9f5f9a1a6a0404dea36dcc949")


@given(st.binary(min_size=32, max_size=32), st.sampled_from(["blake3", "etag"]))
def test_text_and_back(raw: bytes, algorithm: str) -> None:
    digest = Digest(raw, algorithm)
    assert Digest.parse(str(digest)) == digest


@pytest.mark.parametrize(
    "text",
    [
        "",
        "blake3",
        "blake3:",
        f"sha256:{'0' * 64}",
        f"blake3:{'0' * 63}",
        f"blake3:{'0' * 66}",
        f"blake3:{'A' * 64}",
        f"blake3: {'0' * 64}",
        f"blake3:{'0 ' * 32}{'0' * 32}",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Digest.parse(text)


@given(st.text(max_size=90))
def test_parsing_fails_in_one_way(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert str(Digest.parse(text)) == text


def test_T33_a_digest_of_an_etag_proves_nothing() -> None:
    weak = weak_digest("s3://bucket/key", 3, "abc-2")
    assert not weak.is_proof
    assert digest_of(b"abc").is_proof
    assert weak != Digest(weak.raw)
    assert weak != weak_digest("s3://bucket/key", 3, "abc-3")
