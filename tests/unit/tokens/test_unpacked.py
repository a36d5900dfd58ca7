"""Packed sources come out whole, or not at all."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
import zstandard

from stager.errors import DataError
from stager.tokens import unpacked

LINES = b"".join(b'{"text":"line %d"}\n' % number for number in range(5000))


def out(tmp_path: Path, name: str, data: bytes) -> bytes:
    source, target = tmp_path / name, tmp_path / "plain"
    source.write_bytes(data)
    unpacked.unpack(source, name, target)
    return target.read_bytes()


@pytest.fixture(autouse=True, params=[100, 1 << 20])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacked, "BLOCK", request.param)


def test_K34_all_members_and_frames_are_read(tmp_path: Path) -> None:
    half = len(LINES) // 2
    members = gzip.compress(LINES[:half]) + gzip.compress(LINES[half:])
    assert out(tmp_path, "a.jsonl.gz", members) == LINES
    assert out(tmp_path, "a.jsonl.gz", members + bytes(700)) == LINES
    frames = zstandard.compress(LINES[:half]) + zstandard.compress(LINES[half:])
    assert out(tmp_path, "a.jsonl.zst", frames) == LINES


@pytest.mark.parametrize("share", [0.1, 0.5, 0.7, 0.999])
@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst"])
def test_K34_a_stream_that_ends_early_is_an_error(tmp_path: Path, name: str, share: float) -> None:
    packed = gzip.compress(LINES) if name.endswith("gz") else zstandard.compress(LINES)
    with pytest.raises(DataError, match=r"a\.jsonl\.\w+: at byte \d+: .* ends early"):
        out(tmp_path, name, packed[: int(len(packed) * share)])


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst", "a.parquet"])
def test_K34_what_is_not_what_its_name_says(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"not (gzip|zstd|Parquet)"):
        out(tmp_path, name, LINES)


def test_K27_parquet_rows_keep_nulls_and_types(tmp_path: Path) -> None:
    rows = [{"text": None, "n": 2**62}, {"text": "2024-01-01", "n": None}, {"text": "é", "n": 1}]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "t")
    plain = out(tmp_path, "a.parquet", (tmp_path / "t").read_bytes())
    assert [json.loads(line) for line in plain.splitlines()] == rows
