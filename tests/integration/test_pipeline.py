"""dvc.yaml of this repository: a valid pipeline whose stage runs when its reference changes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.integration.test_push import make
from tests.support.command import Stager

ROOT = Path(__file__).parents[2]


def test_repro_pulls_and_does_nothing_the_second_time(local: Stager, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / "pipelines", project / "pipelines")
    shutil.copy(ROOT / "dvc.yaml", project)
    local.ok("push", make(tmp_path / "data", {"a": b"1"}), "demo")
    environment = {
        **local.variables(),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "DVC_NO_ANALYTICS": "1",
        "DVC_SITE_CACHE_DIR": str(tmp_path / "dvc-site"),
    }

    def dvc(*arguments: str) -> str:
        command = [sys.executable, "-m", "dvc", *arguments]
        return subprocess.run(
            command,
            cwd=project,
            env=environment,
            check=True,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
        ).stdout

    dvc("init", "--no-scm", "--quiet")
    dvc("repro")
    assert (project / "pipelines" / "receipts" / "data.json").is_file()
    assert "didn't change" in dvc("repro")
    assert local.path("demo@v1").is_dir()
