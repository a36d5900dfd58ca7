"""Outputs that DVC tracks: what `*.dvc` files and `dvc.lock` say.

Both are YAML. A `.dvc` file has `outs` and perhaps `wdir`; `dvc.lock` has `stages`, each
with `outs`, whose paths are relative to the stage's `wdir` in the dvc.yaml beside it. An
output without `hash: md5` is one of DVC 2 or earlier. Every scalar is read as text, so a
digest of digits only stays what it is.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from stager.errors import MissingExtra, UsageError, problems
from stager.foreign.trees import Tree
from stager.model.names import nearest
from stager.model.promise import is_hex

SHOWN = 10


class Output(NamedTuple):
    """A tracked file or folder, by its path from the repository's folder."""

    path: str
    pointer: str  # the file that says so
    md5: str  # ends with `.dir` for a folder; empty where `files` says it
    is_old: bool  # DVC 2 or earlier: another place, and CRLF counted as LF
    size: int
    remote: str  # the remote that this output asks for, or empty
    files: tuple[Mapping[str, Any], ...]  # of a folder in a version-aware remote


def find(tree: Tree, path: str) -> tuple[Output, str]:
    """The output that is `path` or holds it, and the path below the output.

    UsageError naming what is near when there is none.
    """
    known: list[str] = []
    unreadable: list[str] = []
    for pointer, data in tree.pointers():
        try:
            for folder, out in _outs(tree, pointer, _mapping(data)):
                output = _output(pointer, folder, out)
                if path == output.path or path.startswith(output.path + "/"):
                    return output, path[len(output.path) + 1 :]
                known.append(output.path)
        except ValueError as problem:
            unreadable.append(f"{pointer!r}: {problem}")
    raise _not_found(path, known, unreadable)


def checked(output: Output) -> Output:
    """The output, if DVC keeps its content by md5; DataError when it does not."""
    digest = output.md5.removesuffix(".dir")
    if not is_hex(digest, 32) and not (output.files and not output.md5):
        reason = f"{output.path!r}: {output.pointer} records no md5 of it ({output.md5[:80]!r})"
        raise problems(output.pointer, [reason])
    return output


def _outs(
    tree: Tree, pointer: str, document: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each output with the folder that its path is relative to."""
    here = posixpath.dirname(pointer)
    if posixpath.basename(pointer) != "dvc.lock":
        for out in _listed(document, "outs"):
            yield posixpath.join(here, str(document.get("wdir", "."))), out
        return
    stages = document.get("stages", document if "schema" not in document else {})
    if not isinstance(stages, dict):
        raise ValueError("stages: a mapping expected")
    if not stages:
        return
    folders = _folders(tree, posixpath.join(here, "dvc.yaml"))
    for name, stage in stages.items():
        folder = folders.get(name) or folders.get(name.partition("@")[0]) or "."
        for out in _listed(stage, "outs"):
            yield posixpath.join(here, folder), out


def _folders(tree: Tree, pipeline: str) -> dict[str, str]:
    """The `wdir` of each stage; a stage of `foreach` or `matrix` has it one level deeper."""
    data = tree.read(pipeline)
    stages = _mapping(data).get("stages") if data else None
    found: dict[str, str] = {}
    for name, stage in stages.items() if isinstance(stages, dict) else ():
        body = stage.get("do", stage) if isinstance(stage, dict) else None
        if isinstance(body, dict) and isinstance(body.get("wdir"), str):
            found[name] = body["wdir"]
    return found


def _output(pointer: str, folder: str, out: Mapping[str, Any]) -> Output:
    path = out.get("path")
    if not isinstance(path, str):
        raise ValueError("an output without a path")
    files = _listed(out, "files")
    size = str(out.get("size", ""))
    return Output(
        path=posixpath.normpath(posixpath.join(folder, path)),
        pointer=pointer,
        md5=str(out.get("md5", "")) if out.get("cache") != "false" else "cache: false",
        is_old=out.get("hash") is None,
        size=int(size) if size.isascii() and size.isdigit() and len(size) < 19 else -1,
        remote=str(out.get("remote", "")),
        files=tuple(files),
    )


def _mapping(data: bytes) -> dict[str, Any]:
    try:
        import yaml
    except ImportError as problem:
        raise MissingExtra(purpose="import --dvc", package="pyyaml", extra="import") from problem
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        document = yaml.load(data, Loader=loader)
    except (yaml.YAMLError, RecursionError) as problem:
        raise ValueError(f"no YAML: {' '.join(str(problem).split())[:200]}") from None
    if document is None or document == "":
        return {}
    if not isinstance(document, dict):
        raise ValueError("a mapping expected")
    return document


def _listed(document: Any, key: str) -> list[Mapping[str, Any]]:
    found = document.get(key, []) if isinstance(document, dict) else None
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise ValueError(f"{key}: a list of mappings expected")
    return found


def _not_found(path: str, known: list[str], unreadable: list[str]) -> UsageError:
    below = sorted(name for name in known if not path or name.startswith(path + "/"))
    reason = f"DVC tracks no {path!r} there" if path else "PATH names no output"
    if below:
        more = f" and {len(below) - SHOWN} more" if len(below) > SHOWN else ""
        reason += f"; outputs below it: {', '.join(below[:SHOWN])}{more}"
    else:
        reason += nearest(path, known)
    if unreadable:
        reason += "\nnot readable:\n  " + "\n  ".join(unreadable[:SHOWN])
    return UsageError(reason=reason)
