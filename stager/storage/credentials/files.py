"""The vendors' configuration files, read as text, ini or JSON.

What is wrong with a file is told by its place and line; its words could be secrets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stager.storage.credentials.sources import wrong

LARGEST = 1024 * 1024

Sections = dict[str, dict[str, str]]


def text(path: Path, shown: str) -> str | None:
    """The file's text; None when there is none, AccessDenied when it cannot be read."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            found = file.read(LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise wrong(shown, f"cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise wrong(shown, "is not UTF-8") from None
    if len(found) > LARGEST:
        raise wrong(shown, "is larger than 1 MiB")
    return found


def ini(path: Path, shown: str) -> Sections | None:
    """Sections of an ini file, keys in lower case; None when there is no file."""
    found = text(path, shown)
    if found is None:
        return None
    import configparser

    parser = configparser.RawConfigParser(strict=False, default_section="\0")
    try:
        parser.read_string(found)
    except configparser.Error as problem:
        raise wrong(shown, f"is not an ini file{_line_of(problem)}") from None
    return {name: dict(parser.items(name)) for name in parser.sections()}


def json_object(path: Path, shown: str) -> dict[str, Any] | None:
    """The object of a JSON file; None when there is no file."""
    found = text(path, shown)
    if found is None:
        return None
    try:
        value = json.loads(found)
    except json.JSONDecodeError as problem:
        raise wrong(shown, f"is not JSON, in line {problem.lineno}") from None
    except RecursionError:
        value = None
    if not isinstance(value, dict):
        raise wrong(shown, "holds no JSON object")
    return value


def words(values: Mapping[str, Any], *names: str) -> str:
    """The first of these values that is a text and not empty."""
    found = (values.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value), "")


def _line_of(problem: Exception) -> str:
    line = getattr(problem, "lineno", None)
    errors = getattr(problem, "errors", None)
    if line is None and errors:
        line = errors[0][0]
    return f", in line {line}" if line else ""
