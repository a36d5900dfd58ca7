"""The tools that `stager import` takes from, as their users run them."""

from __future__ import annotations

import hashlib
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


def lfs_pointer(oid: str, size: int) -> bytes:
    """A Git LFS pointer, as the specification writes one."""
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n".encode()


FIRST, SECOND = "1" * 40, "2" * 40  # commits of the hub
LFS_FROM = 1000  # bytes; the hub keeps larger files in LFS


def hub_etag(data: bytes) -> str:
    """What the hub calls these bytes: a sha256 for LFS, else the id of a Git blob."""
    if len(data) >= LFS_FROM:
        return hashlib.sha256(data).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def hub_snapshot(repo: Path, files: Mapping[str, bytes], commit: str) -> Path:
    """A snapshot in the hub's cache, to which `refs/main` leads from now on."""
    for name in ("refs", "blobs"):
        (repo / name).mkdir(parents=True, exist_ok=True)
    (repo / "refs" / "main").write_text(commit)
    for name, data in files.items():
        (repo / "blobs" / hub_etag(data)).write_bytes(data)
        link = repo / "snapshots" / commit / name
        link.parent.mkdir(parents=True, exist_ok=True)
        up = "../" * (2 + name.count("/"))
        link.symlink_to(f"{up}blobs/{hub_etag(data)}")
    return repo / "snapshots" / commit


def hub_local_dir(folder: Path, files: Mapping[str, bytes], commit: str) -> Path:
    """What `hf download --local-dir` leaves in a folder."""
    notes = folder / ".cache" / "huggingface"
    for name, data in files.items():
        note = notes / "download" / f"{name}.metadata"
        for path in (folder / name, note):
            path.parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        note.write_text(f"{commit}\n{hub_etag(data)}\n1764460800.5\n")
        note.with_name(f"{Path(name).name}.lock").touch()
    (notes / ".gitignore").write_text("*")
    return folder
