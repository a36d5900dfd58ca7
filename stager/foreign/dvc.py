"""A file or folder that DVC tracks: its pointer, and where its objects lie.

    <cache>/files/md5/<aa>/<30 hex>        an object of DVC 3; a remote has the same layout
    <cache>/<aa>/<30 hex>                  of DVC 2 and earlier
    ....dir                                a folder: JSON, [{"md5": ..., "relpath": ...}, ...]

An object is looked for in the repository's cache, then in the remote. A folder's list is
checked against its own md5 and its paths against the rules of a version before use.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stager.errors import DigestMismatch, ObjectNotFound, UsageError, problems
from stager.foreign.dvc_config import Remote, Settings, parse
from stager.foreign.dvc_outputs import Output, checked, find
from stager.foreign.found import ForeignFile, Found
from stager.foreign.trees import Tree
from stager.model import paths
from stager.model.promise import is_hex
from stager.storage.store import ObjectStore

MAX_LIST_BYTES = 1024**3


class Objects(NamedTuple):
    """Where objects are: folders of this node in the order of asking, then a store."""

    folders: tuple[str, ...]
    store: ObjectStore | None = None

    def location(self, key: str) -> str:
        """The path of an object on this node, or nothing."""
        places = (os.path.join(folder, key) for folder in self.folders)
        return next((place for place in places if os.path.isfile(place)), "")


class Wanted(NamedTuple):
    """An output, or what lies at `below` in it, and the remote that may hold its objects."""

    output: Output
    below: str
    settings: Settings
    remote: Remote | None


def settings_of(tree: Tree, root: str, today: Tree | None = None) -> Settings:
    """The configuration of a repository; UsageError when DVC was never set up there.

    Where objects lie is a fact of today, so a working tree is asked before a commit.
    """
    config = (today.read(".dvc/config") if today else None) or tree.read(".dvc/config")
    if config is None:
        raise UsageError(reason=f"{root}: not a DVC repository (no .dvc/config)")
    local = today.read(".dvc/config.local") if today else None
    return parse(os.path.abspath(os.path.join(root, ".dvc")), config, local)


def wanted(tree: Tree, settings: Settings, path: str, remote: str = "") -> Wanted:
    """What `path` is, and which remote serves it; the errors are those of `find`."""
    output, below = find(tree, path)
    chosen = settings.remote(remote or output.remote)
    if chosen is not None and not chosen.is_by_digest:
        chosen = None
    return Wanted(checked(output), below, settings, chosen)


def files_of(want: Wanted, store: ObjectStore | None) -> Found:
    """Every file, with its place on this node or its key in `store`.

    A file that is in neither is a finding.
    """
    output = want.output
    folders = [want.settings.cache]
    if want.remote is not None and want.remote.is_folder:
        folders.append(want.remote.url)
    objects = Objects(tuple(folders), store)
    if not output.md5.endswith(".dir") and not output.files:
        if want.below:
            raise UsageError(reason=f"{output.path!r} is a file; {want.below!r} is not in it")
        name = output.path.rpartition("/")[2]
        files = [_placed(objects, output, name, output.md5, output.size)]
    else:
        files = _below(want, [_entry(objects, output, item) for item in _listed(objects, output)])
    missing = [
        f"{file.path!r}: {file.expected} is neither in the cache nor in the remote"
        for file in files
        if not file.location and not file.key
    ]
    named = {"md5": output.md5} if output.md5 else {}
    return Found(tuple(files), named, tuple(missing))


def _listed(objects: Objects, output: Output) -> Sequence[Mapping[str, Any]]:
    """The entries of a folder, all of the right form; DataError naming those that are not."""
    listed: Any = output.files or json_of(objects, output)
    findings: list[str] = []
    if not isinstance(listed, (list, tuple)):
        raise problems(output.pointer, [f"{output.path!r}: its list of files is none"])
    for item in listed:
        path = item.get("relpath") if isinstance(item, dict) else None
        if not isinstance(path, str) or not is_hex(item.get("md5"), 32):
            findings.append(f"{output.path!r}: no path and md5 in {str(item)[:200]}")
    if not findings:
        names = [item["relpath"] for item in listed]
        findings = paths.offences(names)
        findings += [f"{name!r}: twice" for name, count in Counter(names).items() if count > 1]
    if findings:
        raise problems(f"{output.path} ({output.pointer})", findings)
    return list(listed)


def json_of(objects: Objects, output: Output) -> Any:
    """The list in a `.dir` object, checked against its md5."""
    key = _key(output, output.md5)
    location = objects.location(key)
    where = location or key
    if location:
        data = Path(location).read_bytes()
    else:
        data = _got(objects, output, key)
    actual = hashlib.md5(data, usedforsecurity=False).hexdigest()
    expected = output.md5.removesuffix(".dir")
    if actual != expected:
        raise DigestMismatch(key=where, offset=0, expected=expected, actual=actual)
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise problems(output.pointer, [f"{where}: no JSON"]) from None


def _got(objects: Objects, output: Output, key: str) -> bytes:
    finding = f"{output.path!r}: {output.md5} is neither in the cache nor in the remote"
    if objects.store is None:
        raise problems(output.pointer, [finding])
    try:
        if objects.store.head(key).size > MAX_LIST_BYTES:
            raise problems(output.pointer, [f"{key}: over {MAX_LIST_BYTES} bytes"])
        return bytes(objects.store.get(key))
    except ObjectNotFound:
        raise problems(objects.store.url, [finding]) from None


def _entry(objects: Objects, output: Output, item: Mapping[str, Any]) -> ForeignFile:
    size = str(item.get("size", ""))
    known = int(size) if size.isascii() and size.isdigit() and len(size) < 19 else -1
    return _placed(objects, output, item["relpath"], item["md5"], known)


def _below(want: Wanted, files: list[ForeignFile]) -> list[ForeignFile]:
    """The files at and below a path of a folder, named as a push of just that would."""
    if not want.below:
        return files
    inside = [
        file._replace(path=file.path[len(want.below) + 1 :])
        for file in files
        if file.path.startswith(want.below + "/")
    ]
    exact = [
        file._replace(path=file.path.rpartition("/")[2])
        for file in files
        if file.path == want.below
    ]
    if not inside and not exact:
        reason = f"no {want.below!r} in {want.output.path!r}"
        raise UsageError(reason=reason)
    return exact or inside


def _placed(objects: Objects, output: Output, path: str, md5: str, size: int) -> ForeignFile:
    key = _key(output, md5)
    location = objects.location(key)
    algorithm = "md5-dos2unix" if output.is_old else "md5"
    afar = key if not location and objects.store is not None else ""
    return ForeignFile(path, location, afar, size, algorithm, md5)


def _key(output: Output, md5: str) -> str:
    return f"{'' if output.is_old else 'files/md5/'}{md5[:2]}/{md5[2:]}"
