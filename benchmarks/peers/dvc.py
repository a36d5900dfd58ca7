"""DVC with an S3 remote: a project with one tracked folder, pulled into fresh clones.

A clone is what git would check out: the project's `.dvc/config` and `data.dvc`. It has no
cache, and DVC's site-wide and user-wide state lives in the run's own folders.
"""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

from benchmarks.measure import Command, measure
from benchmarks.peers.peer import Peer, Place, package_version
from tests.support.processes import find_program

TRACKED = "data"
POINTER = f"{TRACKED}.dvc"


def dvc(project: Path) -> Peer:
    """DVC with its project in the folder `project`, which `publish` makes."""
    return Peer(
        name="dvc",
        version=package_version("dvc"),
        pull=partial(pull, project),
        push=partial(push, project),
        pull_shown="dvc pull  (in a fresh clone without a cache)",
        push_shown="dvc push",
    )


def publish(project: Path, source: Path, place: Place, scratch: Path) -> None:
    """Make the project, track a copy of the source in it and push that to the place."""
    project.mkdir()
    shutil.copytree(source, project / TRACKED)
    for arguments in (
        ("init", "--no-scm", "--quiet"),
        ("config", "core.analytics", "false"),
        ("config", "core.check_update", "false"),
        ("remote", "add", "--default", "store", f"{place.url}/dvc"),
        ("remote", "modify", "store", "endpointurl", place.server.endpoint),
        ("add", "--quiet", TRACKED),
        ("push", "--quiet"),
    ):
        measure(_command(project, place, scratch, *arguments), scratch)


def track(project: Path, source: Path, place: Place, scratch: Path) -> None:
    """Put a copy of the source where the tracked folder is, and add it; nothing is pushed."""
    shutil.rmtree(project / TRACKED)
    shutil.copytree(source, project / TRACKED)
    measure(_command(project, place, scratch, "add", "--quiet", TRACKED), scratch)


def pull(project: Path, place: Place, scratch: Path) -> Command:
    """Pull into a clone made here; the result is its tracked folder."""
    return pull_again(clone(project, scratch), project / POINTER, place, scratch)


def clone(project: Path, scratch: Path) -> Path:
    """An empty clone of the project under `scratch`."""
    folder = scratch / "clone"
    (folder / ".dvc").mkdir(parents=True)
    shutil.copy(project / ".dvc" / "config", folder / ".dvc")
    return folder


def pull_again(folder: Path, pointer: Path, place: Place, scratch: Path) -> Command:
    """Pull what this `data.dvc` names into a clone, as after `git checkout`."""
    shutil.copy(pointer, folder / POINTER)
    reach(folder, place)
    command = _command(folder, place, scratch, "pull")
    return Command(command.argv, command.environment, folder, result=folder / TRACKED)


def reach(project: Path, place: Place) -> None:
    """Let the project or clone reach its remote at the endpoint of this place."""
    local = f"['remote \"store\"']\n    endpointurl = {place.server.endpoint}\n"
    (project / ".dvc" / "config.local").write_text(local, encoding="utf-8")


def push(project: Path, source: Path, place: Place, scratch: Path) -> Command:
    """Push what the project tracks; `source` was added to it when it was made."""
    del source
    return _command(project, place, scratch, "push")


def program() -> str:
    """The DVC installed beside this interpreter, or the one on PATH."""
    return str(find_program("dvc"))


def _command(directory: Path, place: Place, scratch: Path, *arguments: str) -> Command:
    environment = {
        **place.server.environment(),
        "DVC_NO_ANALYTICS": "1",
        "DVC_SITE_CACHE_DIR": str(scratch / "site"),
        "DVC_SYSTEM_CONFIG_DIR": str(scratch / "system"),
        "DVC_GLOBAL_CONFIG_DIR": str(scratch / "global"),
    }
    return Command((program(), *arguments), environment, directory)
