"""Which files hold records, and where they are cut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.errors import DataError, UsageError
from stager.tokens import sources
from stager.tokens.rows import records


def written(path: Path, data: bytes) -> sources.SourceFile:
    path.write_bytes(data)
    return sources.classified(path, path.name)


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.jsonl", b'{"a":1}\n', "jsonl"),
        ("a.jsonl", b'\xef\xbb\xbf {"a":1}\n', "jsonl"),
        ("a.jsonl", b'[\n{"a":1}\n]', "json"),  # K32
        ("a.json", b' [{"a":1}]', "json"),
        ("a.json", b'{"a":1}\n{"a":2}\n', "jsonl"),
        ("a.json", b'{\n  "a": 1\n}', "json"),
        ("a.txt", b"[not json]", "text"),
        ("a.jsonl", b"", "jsonl"),
    ],
)
def test_K32_the_first_bytes_say_the_kind(
    tmp_path: Path, name: str, data: bytes, kind: str
) -> None:
    assert written(tmp_path / name, data).kind == kind


lines = st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30), max_size=20)


@given(rows=lines, size=st.integers(1, 100), kind=st.sampled_from(["jsonl", "json", "text"]))
def test_every_record_is_in_one_segment(
    rows: list[str], size: int, kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    texts = [json.dumps({"a": row}) if kind != "text" else f".{row}" for row in rows]
    whole = "[" + ",\n".join(texts) + "]" if kind == "json" else "\n".join(texts)
    name = {"jsonl": "a.jsonl", "json": "a.json", "text": "a.txt"}[kind]
    file = written(folder / name, whole.encode())
    found = []
    for segment in sources.cut([file], size):
        data, base = sources.read(segment)
        for record in records(file.kind, data):
            found.append(record.data.decode())
            assert whole.encode()[base + record.offset :].startswith(record.data)
    assert found == texts


def test_K39_a_broken_array_names_file_line_and_byte(tmp_path: Path) -> None:
    file = written(tmp_path / "a.json", b'[{"a":1}\n{"a":2}]')
    with pytest.raises(DataError, match=r"a\.json:2:9: a comma is missing"):
        list(sources.cut([file]))


def test_files_come_in_byte_order_and_others_are_left_alone(tmp_path: Path) -> None:
    for name in ["b.jsonl", "a.json.gz", "README.md", ".hidden.jsonl", "z/a.parquet"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = sources.find(tmp_path)
    assert [name for name, _ in found] == ["a.json.gz", "b.jsonl", "z/a.parquet"]
    assert [sources.is_packed(name) for name, _ in found] == [True, False, True]
    assert [name for name, _ in sources.find(tmp_path / "b.jsonl")] == ["b.jsonl"]


def test_a_source_without_records_is_said(tmp_path: Path) -> None:
    (tmp_path / "README.md").touch()
    with pytest.raises(UsageError, match="no file of records"):
        sources.find(tmp_path)
