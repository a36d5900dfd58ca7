"""bring: files of an import that are not on this node yet, to a folder of the cache."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from stager.errors import DataError, StagerError, problems
from stager.events import Advanced, Began, Noted
from stager.foreign import git_lfs
from stager.foreign.found import ForeignFile
from stager.foreign.git import copy_blobs
from stager.ops.find import ImportPlan
from stager.storage.store import ObjectInfo, ObjectStore
from stager.transfer.ranges import RANGE_BYTES
from stager.transfer.workers import for_each
from stager.workspace import Workspace


def needed(plan: ImportPlan) -> int:
    """Bytes of the cache's disk that `bring` will write."""
    blobs = {file.key: file.size for file in plan.found.files if file.key}
    if plan.store is None:
        return sum(blobs.values())
    return sum(info.size for info in plan.objects.values())


def bring(workspace: Workspace, plan: ImportPlan, folder: Path) -> list[ForeignFile]:
    """Every file with a location. LFS objects go where git-lfs puts them; the rest to `folder`."""
    keys = list(dict.fromkeys(file.key for file in plan.found.files if file.key))
    if plan.store is not None:
        names = {key: f"{folder}/{number}" for number, key in enumerate(keys)}
        _download(workspace, plan.store, plan.objects, names)
    elif plan.repository is not None:
        copy_blobs(plan.repository, keys, folder)
        names = {key: f"{folder}/{key}" for key in keys}
        _fetch_lfs(workspace, plan)
    return [
        file._replace(location=names[file.key]) if file.key else file for file in plan.found.files
    ]


def _download(
    workspace: Workspace,
    store: ObjectStore,
    objects: Mapping[str, ObjectInfo],
    names: Mapping[str, str],
) -> None:
    """Objects in parts, on many connections, each part written where it belongs."""
    workspace.listener(Began("fetch", sum(info.size for info in objects.values())))

    def get(part: tuple[str, int, int]) -> None:
        key, start, end = part
        data = memoryview(store.get(key, start, end, objects[key].etag)) if end else b""
        descriptor = os.open(names[key], os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            with workspace.meter.spent_on("disk"):
                written = 0
                while written < len(data):
                    written += os.pwrite(descriptor, data[written:], start + written)
        finally:
            os.close(descriptor)
        workspace.listener(Advanced(len(data)))

    for_each(_parts(objects), get, workspace.config.transfer.connections)


def _parts(objects: Mapping[str, ObjectInfo]) -> Iterator[tuple[str, int, int]]:
    for key, info in objects.items():
        for start in range(0, max(1, info.size), RANGE_BYTES):
            yield key, start, min(info.size, start + RANGE_BYTES)


def _fetch_lfs(workspace: Workspace, plan: ImportPlan) -> None:
    """Asks git-lfs for objects that are not here; DataError naming those that stay away."""
    absent = git_lfs.missing(plan.found)
    if not absent or plan.repository is None:
        return
    path = plan.found.provenance["path"]
    arguments = git_lfs.fetch_arguments(plan.repository, plan.commit, path)
    hint = f"install git-lfs, or run in a clone: git {' '.join(arguments)}"
    if git_lfs.can_fetch():
        workspace.listener(Noted(f"git {' '.join(arguments)}: {len(absent)} objects"))
        try:
            plan.repository.run(*arguments)
        except StagerError as problem:
            hint = str(problem)
        else:
            hint = "the remote does not have them either"
        absent = git_lfs.missing(plan.found)
    if absent:
        raise _absent(plan, absent, hint)


def _absent(plan: ImportPlan, files: list[ForeignFile], hint: str) -> DataError:
    texts = [f"{file.path!r}: LFS object {file.expected} is not on this node" for file in files]
    problem = problems(plan.title, texts)
    problem.hint = hint
    return problem
