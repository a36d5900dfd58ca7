"""model/receipt.py"""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.errors import ManifestInvalid
from stager.model.receipt import Receipt, Signature, decode

counts = st.integers(0, 2**63)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
signatures = st.builds(Signature, counts, counts, counts, counts)
receipts = st.builds(
    Receipt, texts, texts, texts, texts, counts, counts, texts, texts, signatures, st.just(1)
)
GOOD = Receipt("a", "v1", "t", "p", 1, 2, "file:///r", "now", Signature(1, 2, 3, 4))


@given(receipts)
def test_there_and_back(receipt: Receipt) -> None:
    assert decode(receipt.encode(), "here") == receipt
    assert decode(receipt.encode(), "here").encode() == receipt.encode()


@given(st.binary(max_size=60))
def test_random_bytes_are_refused_in_one_way(data: bytes) -> None:
    with pytest.raises(ManifestInvalid):
        decode(data, "here")


@given(st.integers(0), st.integers(0, 255))
def test_T44_a_damaged_receipt_is_refused_or_still_one(at: int, byte: int) -> None:
    data = bytearray(GOOD.encode())
    data[at % len(data)] = byte
    with contextlib.suppress(ManifestInvalid):
        assert isinstance(decode(bytes(data), "here"), Receipt)


@given(st.integers(0))
def test_T44_half_a_receipt_is_none(at: int) -> None:
    data = GOOD.encode()
    with pytest.raises(ManifestInvalid):
        decode(data[: at % len(data)], "here")


@pytest.mark.parametrize(
    "changes",
    [
        {"format": 2},
        {"signature": None},
        {"signature": []},
        {"signature": {"files": 1}},
        {"more": 1},
        {"files": "many"},
        {"name": None},
        {"signature": {"files": 1, "bytes": 2, "oldest_ns": "3", "newest_ns": 4}},
    ],
)
def test_another_document_is_no_receipt(changes: dict[str, Any]) -> None:
    document = json.loads(GOOD.encode()) | changes
    with pytest.raises(ManifestInvalid) as caught:
        decode(json.dumps(document).encode(), "the file")
    assert str(caught.value).startswith("the file: not a valid receipt: ")


@pytest.mark.parametrize(
    "data", [b"[" * 100_000, b"[]", b"1", b"null", b'"x"', b"{}"], ids=lambda data: repr(data[:9])
)
def test_documents_of_another_shape(data: bytes) -> None:
    with pytest.raises(ManifestInvalid):
        decode(data, "here")


def test_T32_a_signature_covers_a_file_of_its_size_and_time_only() -> None:
    signature = Signature(2, 20, 100, 200)
    assert signature.covers(10, 100, 10)
    assert signature.covers(10, 200, 10)
    assert not signature.covers(11, 150, 10)
    assert not signature.covers(10, 201, 10)
    assert not signature.covers(10, 99, 10)
