"""The Python API: the verbs as functions.

Settings come from stager.toml and the environment, as for the command; keyword arguments
named like the settings (remote, cache, ...) take precedence. Failures are StagerError.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from stager import config
from stager.cache.leases import Lessee
from stager.events import Listener, ignore
from stager.model.names import parse_reference
from stager.ops import adopt as adopt_verb
from stager.ops import pull as pull_verb
from stager.ops import push as push_verb
from stager.ops.push import PushReport
from stager.workspace import Workspace

StrPath = str | os.PathLike[str]


def pull(
    reference: str,
    destination: StrPath | None = None,
    *,
    listener: Listener = ignore,
    **settings: object,
) -> Path:
    """The folder with the verified files of a version; pulls it unless it is here.

    Without a destination the version stays in the cache while this process lives.
    """
    workspace = _workspace(listener, settings)
    lessee = Lessee(workspace.folders, os.getpid())
    place = None if destination is None else Path(destination)
    request = pull_verb.PullRequest(parse_reference(reference), place, lessee=lessee)
    return Path(pull_verb.pull(workspace, request).path)


@contextlib.contextmanager
def lease(reference: str, *, listener: Listener = ignore, **settings: object) -> Iterator[Path]:
    """As `pull`, but the version stays in the cache for the `with` block only."""
    workspace = _workspace(listener, settings)
    lessee = Lessee(workspace.folders, os.getpid(), lasting=False)
    try:
        request = pull_verb.PullRequest(parse_reference(reference), lessee=lessee)
        yield Path(pull_verb.pull(workspace, request).path)
    finally:
        lessee.release()


def push(
    source: StrPath,
    reference: str,
    message: str = "",
    *,
    plain: bool = False,
    listener: Listener = ignore,
    **settings: object,
) -> PushReport:
    """A file or folder as a new version; the report names it."""
    request = push_verb.PushRequest(Path(source), parse_reference(reference), message, plain)
    return push_verb.push(_workspace(listener, settings), request)


def adopt(
    url: str,
    reference: str,
    message: str = "",
    *,
    hashed: bool = True,
    listener: Listener = ignore,
    **settings: object,
) -> PushReport:
    """An existing prefix as a version, without copying; the report names it."""
    request = adopt_verb.AdoptRequest(url, parse_reference(reference), message, hashed)
    return adopt_verb.adopt(_workspace(listener, settings), request)


def _workspace(listener: Listener, settings: dict[str, object]) -> Workspace:
    return Workspace(config.load(flags=settings), listener)
