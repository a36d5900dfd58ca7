"""find: what an import is made of, from each of the tools that may have it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from stager.errors import ObjectNotFound, StagerError, problems
from stager.events import Warned, both
from stager.foreign import dvc, git_lfs, hf
from stager.foreign.dvc_config import Remote
from stager.foreign.found import Found, path_inside
from stager.foreign.git import Repository, open_local, opened, parse_address, without_credentials
from stager.foreign.trees import CommitTree, FolderTree
from stager.model import paths
from stager.model.names import Reference
from stager.storage.connect import connect
from stager.storage.secret import Secret
from stager.storage.store import ObjectInfo, ObjectStore
from stager.transfer.workers import for_each
from stager.workspace import Workspace

NOT_READ = ("profile", "credentialpath", "configpath")


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """From which tool (`dvc`, `git-lfs`, `hf`), from where, and as what.

    `where` is REPO[@REV], or a folder of the hub. `path` leads from the repository's folder.
    """

    kind: str
    where: str
    path: str
    reference: Reference
    message: str = ""
    dvc_remote: str = ""


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """Every file with its place. Those with a key lie in `store` (and are then in `objects`)
    or are blobs of `repository`.
    """

    title: str
    found: Found
    store: ObjectStore | None = None
    objects: Mapping[str, ObjectInfo] = field(default_factory=dict)
    repository: Repository | None = None
    commit: str = ""


def find(workspace: Workspace, request: ImportRequest, scratch: Path) -> ImportPlan:
    """Where every file of the import is; DataError naming all that cannot be part of it."""
    path = path_inside(request.path)
    if request.kind == "dvc":
        plan = _dvc(workspace, request, path, scratch)
    elif request.kind == "git-lfs":
        plan = _git_lfs(request, path, scratch)
    else:
        plan = _hf(request)
    for text in plan.found.warnings:
        workspace.listener(Warned(text))
    plan = replace(plan, objects=_objects(workspace, plan))
    offences = paths.offences([file.path for file in plan.found.files])
    findings = [*plan.found.findings, *offences, *_not_there(plan)]
    if findings:
        raise problems(plan.title, findings)
    return plan


def _dvc(workspace: Workspace, request: ImportRequest, path: str, scratch: Path) -> ImportPlan:
    """The working tree when no revision is given, as `dvc get` takes it; else the commit."""
    address = parse_address(request.where)
    here = FolderTree(address.repo) if address.is_local else None
    named = without_credentials(address.repo)
    provenance = {"kind": "import-dvc", "repo": named, "path": path}
    if here is not None and not address.rev and os.path.isdir(f"{address.repo}/.dvc"):
        settings = dvc.settings_of(here, address.repo, here)
        want = dvc.wanted(here, settings, path, request.dvc_remote)
        provenance |= _head(address.repo, want.output.pointer, here)
    else:
        repository, commit = opened(address, scratch / "clone")
        tree = CommitTree(repository, commit)
        root = address.repo.removeprefix("file://")
        root = root if os.path.isdir(root) else repository.folder
        settings = dvc.settings_of(tree, root, here)
        want = dvc.wanted(tree, settings, path, request.dvc_remote)
        provenance |= {"rev": commit, **_origin(repository, named)}
    store = _store_of(workspace, want.remote)
    found = dvc.files_of(want, store)
    found = replace(found, provenance={**provenance, **found.provenance})
    return ImportPlan(f"{named}: {path}", found, store)


def _git_lfs(request: ImportRequest, path: str, scratch: Path) -> ImportPlan:
    address = parse_address(request.where)
    named = without_credentials(address.repo)
    repository, commit = opened(address, scratch / "clone")
    found = git_lfs.files_of(repository, commit, path)
    provenance = {"kind": "import-git-lfs", "repo": named, "rev": commit, "path": path}
    provenance |= _origin(repository, named)
    found = replace(found, provenance=provenance)
    title = f"{named}@{commit[:12]}: {path or '.'}"
    return ImportPlan(title, found, repository=repository, commit=commit)


def _hf(request: ImportRequest) -> ImportPlan:
    found = hf.files_of(Path(request.where))
    found = replace(found, provenance={"kind": "import-hf", **found.provenance})
    return ImportPlan(request.where, found)


def _head(folder: str, pointer: str, tree: FolderTree) -> dict[str, str]:
    """The commit whose pointer this is; where it was edited since, that is said instead."""
    try:
        repository = open_local(folder)
        commit = repository.commit("HEAD")
    except StagerError:
        return {}  # `dvc init --no-scm`, or nothing was committed yet
    origin = _origin(repository, without_credentials(folder))
    if CommitTree(repository, commit).read(pointer) == tree.read(pointer):
        return {"rev": commit, **origin}
    return {"head": commit, "uncommitted": pointer, **origin}


def _origin(repository: Repository, named: str) -> dict[str, str]:
    url = repository.setting("remote.origin.url")
    origin = without_credentials(url) if url else ""
    return {"origin": origin} if origin and origin != named else {}


def _store_of(workspace: Workspace, remote: Remote | None) -> ObjectStore | None:
    """The DVC remote, with the endpoint and keys that its configuration gives."""
    if remote is None or remote.is_folder:
        return None
    given = remote.options
    names = {"endpointurl": "endpoint", "region": "region"}
    options = {ours: given[theirs] for theirs, ours in names.items() if given.get(theirs)}
    keys: dict[str, str | Secret] = {
        name: given[name] if name == "access_key_id" else Secret(given[name])
        for name in ("access_key_id", "secret_access_key", "session_token")
        if given.get(name)
    }
    if ignored := [name for name in NOT_READ if given.get(name)]:
        text = f"DVC remote {remote.name!r}: {', '.join(ignored)} is not read; set AWS_* variables"
        workspace.listener(Warned(text))
    if not options and not keys:
        return workspace.store(remote.url)
    storage = workspace.config.storage
    credentials = replace(storage.credentials, **keys)  # type: ignore[arg-type]
    storage = replace(storage, credentials=credentials, **options)  # type: ignore[arg-type]
    return connect(remote.url, storage, both(workspace.meter, workspace.listener))


def _objects(workspace: Workspace, plan: ImportPlan) -> dict[str, ObjectInfo]:
    """The objects that are in the store, of those that are wanted from it."""
    store = plan.store
    if store is None:
        return {}
    found: dict[str, ObjectInfo] = {}

    def look(key: str) -> None:
        with contextlib.suppress(ObjectNotFound):  # `_not_there` names it with all the others
            found[key] = store.head(key)

    keys = dict.fromkeys(file.key for file in plan.found.files if file.key)
    for_each(keys, look, workspace.config.transfer.connections)
    return found


def _not_there(plan: ImportPlan) -> list[str]:
    if plan.store is None:
        return []
    return [
        f"{file.path!r}: {file.expected} is neither in the cache nor in the remote"
        for file in plan.found.files
        if file.key and file.key not in plan.objects
    ]
