"""init: writes the two lines of stager.toml."""

from __future__ import annotations

import json
from pathlib import Path

from stager.config import FILE_NAME
from stager.errors import UsageError
from stager.storage.address import refuse_secrets


def init(folder: Path, remote: str, cache: str) -> Path:
    """The file written; UsageError when there is one already, or keys are in the URL."""
    refuse_secrets(remote)
    path = folder / FILE_NAME
    text = f"remote = {json.dumps(remote)}\ncache = {json.dumps(cache)}\n"
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(reason=f"{path} is there already") from None
    return path
