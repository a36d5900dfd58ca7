"""Azurite, Microsoft's emulator of Azure Blob Storage, where npm has installed it.

`make azurite` puts it below node_modules/ (370 packages, so no part of `make test`); tests that
need it are skipped by name where it is absent. Its account and key are published constants.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes import LOOPBACK, answers, find_program, free_port, serving

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
INSTALLED = Path(__file__).resolve().parents[2] / "node_modules" / ".bin"


@dataclass(frozen=True)
class Azurite:
    """Where the emulator answers."""

    endpoint: str

    def environment(self) -> dict[str, str]:
        """The variables that obstore and the tools of Azure read."""
        return {
            "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": KEY,
        }

    def make_container(self, name: str) -> None:
        """By rclone, which signs as Azure wants it."""
        remote = f":azureblob,account={ACCOUNT},key='{KEY}',endpoint='{self.endpoint}':{name}"
        command = [str(find_program("rclone")), "--config", os.devnull, "mkdir", remote]
        subprocess.run(command, check=True, capture_output=True, timeout=60)


def program() -> str | None:
    """The emulator, when it is installed."""
    return shutil.which("azurite-blob", path=f"{INSTALLED}:{os.environ.get('PATH', '')}")


@contextlib.contextmanager
def azurite(directory: Path) -> Iterator[Azurite]:
    """Serve blobs from memory until the block ends; its log in `directory`."""
    found = program()
    assert found is not None
    port = free_port()
    command = [
        *(found, "--blobHost", LOOPBACK, "--blobPort", str(port)),
        *("--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", "--silent"),
    ]
    address = f"http://{LOOPBACK}:{port}"
    with serving(command, log=directory / "azurite.log", ready=lambda: answers(address)):
        yield Azurite(f"{address}/{ACCOUNT}")
