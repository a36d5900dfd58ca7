"""The few Git commands an import needs, and how a repository is named.

A repository is a folder (with or without a working tree) or a URL that git can fetch from.
Git is run without the GIT_* variables of a hook that may have called us, and no text of the
user is taken for an option.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from stager.errors import DataError, StagerError, UsageError

OUTSIDE = tuple(
    word
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
    for word in ("-u", name)
)
LINK, MODULE = "120000", "160000"
COPY_BYTES = 1024 * 1024

_AUTHORITY = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?#]*@)?", re.IGNORECASE)
_SSH_USER = re.compile(r"[^:@]+")


class Address(NamedTuple):
    """REPO[@REV] as it was typed; `rev` is empty when none was given."""

    repo: str
    rev: str = ""

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of this node."""
        return os.path.isdir(self.repo)


class Entry(NamedTuple):
    """One line of `git ls-tree`; `size` is -1 for what is no blob."""

    mode: str
    object_id: str
    size: int
    path: str


def parse_address(text: str) -> Address:
    """The repository and the revision in `text`.

    The longest folder that exists wins, for folders may hold an '@'. In a URL the revision
    begins at the first '@' after the host, in `git@host:path` at the first after the colon.
    """
    if os.path.isdir(text):
        return Address(text)
    at = len(text)
    while (at := text.rfind("@", 0, at)) > 0:
        if os.path.isdir(text[:at]):
            return Address(text[:at], text[at + 1 :])
    host = _AUTHORITY.match(text)
    start = host.end() if host else text.find(":") + 1
    if start <= 0:
        reason = f"{text}: neither a folder nor a URL that git can fetch from"
        raise UsageError(reason=reason)
    at = text.find("@", start)
    return Address(text) if at < 0 else Address(text[:at], text[at + 1 :])


def without_credentials(repo: str) -> str:
    """How a repository is named to others: no password or token, and no path of this node."""
    host = _AUTHORITY.match(repo)
    if host is None and ":" in repo and not os.path.isdir(repo):
        return repo  # git@host:path, which has no room for a secret
    if host is None or host[1].lower() == "file":
        return Path(repo.removeprefix("file://")).absolute().name
    user = _SSH_USER.match(host[2] or "") if host[1].lower() == "ssh" else None
    rest = re.split(r"[?#]", repo[host.end() :], maxsplit=1)[0]
    return f"{host[1]}://{user[0] + '@' if user else ''}{rest}"


class Repository(NamedTuple):
    """A repository on this node: a folder for `git -C`; `prefix` leads to it from the top."""

    folder: str
    prefix: str = ""

    def run(self, *arguments: str) -> bytes:
        """What a Git command prints; StagerError with git's own words when it fails."""
        done = subprocess.run(
            _command(self.folder, *arguments), stdin=subprocess.DEVNULL, capture_output=True
        )
        if done.returncode != 0:
            raise _failed(done.stderr)
        return done.stdout

    def text(self, *arguments: str) -> str:
        """The one line that a Git command prints, as a file name."""
        return os.fsdecode(self.run(*arguments)).removesuffix("\n")

    def setting(self, name: str) -> str:
        """A value of git's configuration; empty when it is not set."""
        try:
            return self.text("config", "--get", name)
        except StagerError:
            return ""

    def commit(self, rev: str) -> str:
        """The commit that `rev` names, whole; UsageError when there is none."""
        try:
            return self.text(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}"
            )
        except StagerError:
            raise UsageError(reason=f"{self.folder}: no revision {rev!r}") from None

    def object_at(self, commit: str, path: str) -> str:
        """The id of the blob or tree at `path` of the repository's folder; empty when none."""
        whole = f"{self.prefix}{path}".rstrip("/")
        try:
            return self.text("rev-parse", "--verify", "--quiet", f"{commit}:{whole}")
        except StagerError:
            return ""

    def kind(self, object_id: str) -> str:
        """`blob` or `tree`; a submodule's commit is not here and has none."""
        try:
            return self.text("cat-file", "-t", object_id)
        except StagerError:
            return "commit"

    def entries(self, tree: str) -> Iterator[Entry]:
        """Everything below a tree, by path from it."""
        listed = self.run("ls-tree", "-r", "-z", "-l", "--full-tree", tree)
        for line in listed.split(b"\0")[:-1]:
            facts, _, path = line.partition(b"\t")
            mode, _, object_id, size = facts.decode().split()
            yield Entry(mode, object_id, -1 if size == "-" else int(size), os.fsdecode(path))

    def blobs(self, ids: Iterable[str]) -> Iterator[tuple[str, int, IO[bytes]]]:
        """Id, size and stream of each blob in turn; the stream must be read to its size."""
        command = _command(self.folder, "cat-file", "--batch")
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin is not None and process.stdout is not None
            for object_id in ids:
                process.stdin.write(f"{object_id}\n".encode())
                process.stdin.flush()
                head = process.stdout.readline().split()
                if len(head) != 3:
                    reason = f"git has no object {object_id}; `git fsck` tells more"
                    raise StagerError(reason=reason)
                yield object_id, int(head[2]), process.stdout
                process.stdout.read(1)
            process.stdin.close()


def open_local(folder: str) -> Repository:
    """The repository that a folder is or lies in; UsageError when it is none."""
    try:
        prefix = Repository(folder).text("rev-parse", "--show-prefix")
    except StagerError as problem:
        reason = f"{folder}: not a Git repository ({problem.fields['reason']})"
        raise UsageError(reason=reason) from None
    return Repository(folder, prefix)


def fetched(address: Address, folder: Path) -> tuple[Repository, str]:
    """A bare copy of a remote repository in `folder`, and the commit that was asked for.

    One commit without its history; all of it where the server does not give out a single
    commit by the name that was typed.
    """
    folder.mkdir()
    repository = Repository(str(folder))
    repository.run("init", "--quiet", "--bare")
    repository.run("config", "remote.origin.url", address.repo)
    rev = address.rev or "HEAD"
    try:
        if not rev.startswith(("-", "+")) and ":" not in rev:
            repository.run("fetch", "--quiet", "--depth=1", "--no-tags", "--", "origin", rev)
            return repository, repository.commit("FETCH_HEAD")
    except StagerError:
        pass
    repository.run("fetch", "--quiet", "origin", "+refs/*:refs/*")
    return repository, repository.commit(rev)


def opened(address: Address, folder: Path) -> tuple[Repository, str]:
    """A repository and the commit asked for, wherever it is; git's words name no secret."""
    if address.is_local:
        repository = open_local(address.repo)
        return repository, repository.commit(address.rev or "HEAD")
    try:
        return fetched(address, folder)
    except StagerError as problem:
        named = without_credentials(address.repo)
        reason = str(problem).replace(address.repo, named).replace(str(folder), named)
        raise UsageError(reason=reason, hint=problem.hint) from None


def copy_blobs(repository: Repository, ids: Iterable[str], folder: Path) -> None:
    """Writes blobs to `folder` under their ids; DataError when git stops in the middle."""
    for object_id, size, stream in repository.blobs(ids):
        with open(folder / object_id, "xb") as file:
            while size > 0:
                data = stream.read(min(size, COPY_BYTES))
                if not data:
                    raise DataError(where=repository.folder, count=1, listing=object_id)
                file.write(data)
                size -= len(data)


def _command(folder: str, *arguments: str) -> list[str]:
    return ["env", *OUTSIDE, "LC_ALL=C", "git", "-C", folder, *arguments]


def _failed(stderr: bytes) -> StagerError:
    text = stderr.decode(errors="replace").strip()
    if "env:" in text and "git" in text:
        return StagerError(reason="git is not installed", hint="apt-get install git")
    return StagerError(reason=f"git: {text or 'failed'}")
