"""A download of the Hugging Face hub, in its cache or in a folder of the user's choice.

    <cache>/models--org--name/refs/main                      commit
                              snapshots/<commit>/<path>      link to ../../blobs/<etag>
                              blobs/<etag>                   the bytes; datasets--, spaces-- too
    <folder>/<path>                                          the bytes, of a --local-dir download
    <folder>/.cache/huggingface/download/<path>.metadata     commit, etag, time: a line each

An etag of 64 hexadecimal digits is the sha256 of the bytes, one of 40 the id of a Git blob.
What has no etag of either form is imported and counted as unchecked. The hub does not write
down which files a commit has: of a download that was not finished there is what arrived.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stager.errors import UsageError
from stager.foreign.found import ForeignFile, Found
from stager.model.promise import is_hex

HOUSEKEEPING = os.path.join(".cache", "huggingface")
METADATA = ".metadata"
UNFINISHED = ".incomplete"

_REPO = re.compile(r"(model|dataset|space)s--(.+)")
_KINDS = {40: "git-sha1", 64: "sha256"}


class Download(NamedTuple):
    """What `--local-dir` wrote down of a file."""

    commit: str
    etag: str


def files_of(folder: Path) -> Found:
    """The files of a snapshot, a repository of the cache, or a --local-dir download.

    UsageError for a folder that is none of them.
    """
    place = folder.absolute()
    if not place.is_dir():
        raise UsageError(reason=f"{folder}: no such folder")
    if place.parent.name == "snapshots" and _REPO.fullmatch(place.parent.parent.name):
        return _snapshot(place.parent.parent, place)
    if _REPO.fullmatch(place.name) and (place / "snapshots").is_dir():
        return _snapshot(place, _chosen(place))
    if (place / HOUSEKEEPING / "download").is_dir():
        return _local_dir(place)
    reason = f"{folder}: neither in a cache of the hub nor downloaded with --local-dir"
    raise UsageError(reason=reason, hint="`stager push` takes any folder")


def _chosen(repo: Path) -> Path:
    """The snapshot that `refs/main` names, or the only one."""
    main = repo / "refs" / "main"
    if main.is_file():
        commit = main.read_text(errors="replace").strip()
        if is_hex(commit, 40) and (repo / "snapshots" / commit).is_dir():
            return repo / "snapshots" / commit
    snapshots = sorted((repo / "snapshots").iterdir())
    if len(snapshots) != 1:
        names = ", ".join(entry.name for entry in snapshots) or "none"
        raise UsageError(reason=f"{repo}: which snapshot? There are: {names}")
    return snapshots[0]


def _snapshot(repo: Path, snapshot: Path) -> Found:
    blobs = (repo / "blobs").resolve()
    files, findings = [], []
    for path in _walk(snapshot):
        place = snapshot / path
        if not place.is_file():
            what = "a link to nothing" if place.is_symlink() else "not a regular file"
            findings.append(f"{path!r}: {what}")
            continue
        target = place.resolve()
        if not place.is_symlink():
            files.append(ForeignFile(path, str(place)))
        elif target.parent != blobs:
            findings.append(f"{path!r}: a link that leaves the blobs of the repository")
        else:
            files.append(_promised(path, str(target), target.name))
    kind, name = _named(repo.name)
    provenance = {"repo": name, "repo_type": kind, "rev": snapshot.name}
    unfinished = [entry.name for entry in _listing(blobs) if entry.name.endswith(UNFINISHED)]
    return Found(tuple(files), provenance, tuple(findings), _told(unfinished))


def _local_dir(folder: Path) -> Found:
    notes = folder / HOUSEKEEPING / "download"
    written = {path: _note(notes, path) for path in _noted(notes)}
    findings = [f"{path!r}: its metadata cannot be read" for path, it in written.items() if not it]
    known = {path: note for path, note in written.items() if note}
    commits = Counter(note.commit for note in known.values())
    newest = max(commits, key=lambda commit: commits[commit], default="")
    findings += [
        f"{path!r}: of commit {note.commit}, where others are of {newest}"
        for path, note in known.items()
        if note.commit != newest
    ]
    files = []
    for path in _walk(folder):
        place = folder / path
        if not place.is_file():
            findings.append(f"{path!r}: not a regular file")
        elif not place.resolve().is_relative_to(folder.resolve()):
            findings.append(f"{path!r}: a link that leaves the folder")
        else:
            note = known.get(path)
            files.append(_promised(path, str(place), note.etag if note else ""))
    there = {file.path for file in files}
    findings += [
        f"{path!r}: was downloaded and is not there" for path in known if path not in there
    ]
    provenance = {"repo": folder.name, "rev": newest}
    unfinished = [path for path in _walk(notes) if path.endswith(UNFINISHED)]
    return Found(tuple(files), provenance, tuple(findings), _told(unfinished))


def _noted(notes: Path) -> list[str]:
    return sorted(path.removesuffix(METADATA) for path in _walk(notes) if path.endswith(METADATA))


def _note(notes: Path, path: str) -> Download | None:
    lines = (notes / f"{path}{METADATA}").read_text(errors="replace").splitlines()
    if len(lines) < 2 or not is_hex(lines[0].strip(), 40):
        return None
    return Download(lines[0].strip(), lines[1].strip())


def _promised(path: str, location: str, etag: str) -> ForeignFile:
    algorithm = next((kind for size, kind in _KINDS.items() if is_hex(etag, size)), "")
    return ForeignFile(path, location, algorithm=algorithm, expected=etag if algorithm else "")


def _named(folder: str) -> tuple[str, str]:
    match = _REPO.fullmatch(folder)
    assert match is not None
    return match[1], match[2].replace("--", "/", 1)


def _walk(folder: Path) -> Iterator[str]:
    """Everything that is no folder, by relative path; the hub's own notes are left out."""
    for here, folders, names in os.walk(folder):
        folders.sort()
        below = os.path.relpath(here, folder)
        if below == os.path.dirname(HOUSEKEEPING):
            folders[:] = [name for name in folders if name != os.path.basename(HOUSEKEEPING)]
        linked = [name for name in folders if os.path.islink(os.path.join(here, name))]
        for name in sorted(names + linked):
            yield os.path.normpath(os.path.join(below, name))


def _listing(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _told(unfinished: list[str]) -> tuple[str, ...]:
    if not unfinished:
        return ()
    return (f"{len(unfinished)} download(s) there are not finished: files may be missing",)
