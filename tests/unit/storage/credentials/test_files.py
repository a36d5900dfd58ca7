"""Files of other tools: what is wrong with them is told by place and line, never by content."""

from __future__ import annotations

import os
import traceback
from pathlib import Path

import pytest

from stager.errors import AccessDenied
from stager.storage.credentials import files

SECRET = "planted-secret-0123456789"


def test_no_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert files.ini(tmp_path / "absent", "x") is None
    assert files.json_object(tmp_path / "file" / "below", "x") is None


def test_ini_files_are_read_as_their_owners_do(tmp_path: Path) -> None:
    path = tmp_path / "ini"
    path.write_text("\ufeff[default]\nKey = a%b;c\n[default]\nother=1\n[DEFAULT]\nz=2\n# [no]\n")
    assert files.ini(path, "x") == {
        "default": {"key": "a%b;c", "other": "1"},
        "DEFAULT": {"z": "2"},
    }


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (f"[a]\n{SECRET}\n", "is not an ini file, in line 2"),
        (f"{SECRET} = 1\n", "is not an ini file, in line 1"),
    ],
)
def test_a_broken_ini_file_is_not_quoted(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "ini"
    path.write_text(content)
    with pytest.raises(AccessDenied, match=sentence) as caught:
        files.ini(path, "~/ini")
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{\n"a": "' + SECRET, "is not JSON, in line 2"),
        ('["' + SECRET + '"]', "holds no JSON object"),
        ("[" * 100_000, "holds no JSON object|is not JSON"),
    ],
)
def test_a_broken_json_file_is_not_quoted(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "json"
    path.write_text(content)
    with pytest.raises(AccessDenied, match=sentence) as caught:
        files.json_object(path, "~/json")
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_file_that_cannot_be_read_is_an_error_not_an_absence(tmp_path: Path) -> None:
    with pytest.raises(AccessDenied, match="Is a directory"):
        files.text(tmp_path, "~/x")
    closed = tmp_path / "closed"
    closed.touch(mode=0)
    if os.geteuid():
        with pytest.raises(AccessDenied, match="Permission denied"):
            files.text(closed, "~/closed")
    (tmp_path / "latin").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(AccessDenied, match="is not UTF-8"):
        files.text(tmp_path / "latin", "~/latin")
    (tmp_path / "large").write_text("x" * (files.LARGEST + 1))
    with pytest.raises(AccessDenied, match="larger than 1 MiB"):
        files.text(tmp_path / "large", "~/large")


def test_words_are_texts_that_are_not_empty() -> None:
    assert files.words({"a": "", "b": 1, "c": "x"}, "a", "b", "c") == "x"
    assert files.words({}, "a") == ""
