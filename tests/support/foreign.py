"""The tools that `stager import` takes from, as their users run them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

IDENTITY = ("-c", "user.name=tester", "-c", "user.email=tester@example.com")
QUIET = ("-c", "init.defaultBranch=main", "-c", "advice.detachedHead=false")
OUTSIDE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")


@dataclass(frozen=True)
class Project:
    """A Git repository in a folder, and in it perhaps a DVC one."""

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def git(self, *arguments: str | Path) -> str:
        """What a Git command prints; it must succeed."""
        return self._run("git", *IDENTITY, *QUIET, *arguments)

    def dvc(self, *arguments: str | Path) -> str:
        """What a DVC command prints; it must succeed."""
        return self._run(sys.executable, "-m", "dvc", *arguments)

    def commit(self, message: str = "a change") -> str:
        """Commits everything; the commit's id."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD").strip()

    def _run(self, *command: str | Path) -> str:
        inherited = {name: value for name, value in os.environ.items() if name not in OUTSIDE}
        site = self.folder.parent / "dvc-site"
        done = subprocess.run(
            list(map(str, command)),
            cwd=self.folder,
            env={
                **inherited,
                "DVC_NO_ANALYTICS": "1",
                "DVC_SITE_CACHE_DIR": str(site),
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_SYSTEM": os.devnull,
                **self.environment,
            },
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}"
        return done.stdout


def git_project(folder: Path, environment: Mapping[str, str] | None = None) -> Project:
    """A new Git repository."""
    folder.mkdir(parents=True)
    project = Project(folder, environment or {})
    project.git("init", "--quiet")
    return project


def dvc_project(folder: Path, environment: Mapping[str, str] | None = None) -> Project:
    """A new Git repository with DVC set up in it."""
    project = git_project(folder, environment)
    project.dvc("init", "--quiet")
    return project
