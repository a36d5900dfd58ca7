"""A stager on every kind of remote."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from stager import config
from tests.support import corpus
from tests.support.command import Stager
from tests.support.foreign import Project, dvc_project
from tests.support.planted import plant_files
from tests.support.s3_server import S3Server

TRACKED = {
    "labels.csv": b"a,b\r\n1,2\r\n",
    "im/1.bin": b"\0\r\n\1" * 500,
    "im/2.bin": b"",
    "z": b"z",
}
JSONL_BYTES = 32 * 1024 * 1024
MOVED = 62  # records deleted and inserted: as 500 are to 256 MB
SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def local(tmp_path: Path) -> Stager:
    """A stager whose remote is a local folder."""
    return Stager(str(tmp_path / "remote"), tmp_path / "cache")


@pytest.fixture
def on_s3(tmp_path: Path, s3_server: S3Server, bucket: str) -> Stager:
    """A stager whose remote is a bucket of a real S3 server."""
    return Stager(f"s3://{bucket}/team", tmp_path / "cache", s3_server.environment())


@pytest.fixture(params=["local", "s3"])
def stager(request: pytest.FixtureRequest) -> Stager:
    """Both."""
    chosen: Stager = request.getfixturevalue({"local": "local", "s3": "on_s3"}[request.param])
    return chosen


@pytest.fixture(params=["sft", "images"])
def real_input(request: pytest.FixtureRequest) -> Path:
    """A folder of real inputs, where this checkout has them beside it."""
    folder = SHARED / request.param
    if not folder.is_dir():
        pytest.skip(f"the shared inputs are not beside this checkout ({request.param})")
    return folder


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`project/` with `data/` tracked, committed and pushed to the remote `dvc-remote/`.

    Made once and copied: DVC takes more than a second to start.
    """
    folder = tmp_path_factory.mktemp("template")
    project = dvc_project(folder / "project")
    for name, data in TRACKED.items():
        path = project.folder / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    project.dvc("remote", "add", "--quiet", "--default", "store", folder / "dvc-remote")
    config = project.folder / ".dvc" / "config"
    config.write_text(config.read_text().replace(str(folder), "../.."))
    project.dvc("add", "--quiet", "data")
    project.commit()
    project.dvc("push", "--quiet")
    return folder


@pytest.fixture
def project(template: Path, tmp_path: Path) -> Project:
    """A copy of the template's project, with its remote beside it."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    return Project(tmp_path / "project")


@pytest.fixture(scope="module")
def v1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one JSONL file."""
    folder = tmp_path_factory.mktemp("v1")
    corpus.jsonl(folder / "train.jsonl", JSONL_BYTES, seed=1)
    return folder


@pytest.fixture(scope="module")
def v2(v1: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its edit: 1 % of the records changed, some left out, some new."""
    folder = tmp_path_factory.mktemp("v2")
    corpus.edit_jsonl(v1 / "train.jsonl", folder / "train.jsonl", 2, 0.01, MOVED, MOVED)
    return folder


@pytest.fixture
def planted_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with planted keys in every tool's file, and no variables of vendors."""
    for name in os.environ:
        if name.startswith((*config.VENDOR_PREFIXES, "STAGER_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    plant_files(folder)
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def little(tmp_path: Path) -> Path:
    """A folder with a little data."""
    folder = tmp_path / "source"
    folder.mkdir()
    corpus.jsonl(folder / "train.jsonl", 100_000, seed=3)
    return folder
