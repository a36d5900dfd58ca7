"""reserve: disk for a pull, and the versions it takes from kept while it does.

The cache knows what is pinned, leased and in use; whether a version can be had again only
its remote knows. `copies` asks: two requests a version, and only when room is needed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stager.cache import need, space
from stager.cache.leases import leased
from stager.cache.room import Judge
from stager.cache.staged import Staged
from stager.catalog import versions
from stager.errors import ObjectNotFound, StagerError
from stager.workspace import Workspace

if TYPE_CHECKING:
    from stager.ops.reuse import Reuse
    from stager.ops.stage import StagePlan


@contextlib.contextmanager
def reserved(
    workspace: Workspace, planned: StagePlan, staging: Path, resumes: bool
) -> Iterator[None]:
    """Disk for what `planned` will write, and its sources leased; DiskFull when there is none.

    A source that was evicted before is not here any more: it counts as not found.
    """
    linked, stored = planned.reuse.files, len(planned.stored_placement)
    with leased(workspace.folders, _sources(workspace, planned.reuse)):
        wanted = need.need_of(staging, planned.placement, stored, linked, resumes)
        judge = copies(workspace)
        options, listener = workspace.config.cache, workspace.listener
        with space.reserved(options, wanted, staging, judge, listener):
            yield


def reserved_bytes(
    workspace: Workspace, folder: Path, size: int
) -> contextlib.AbstractContextManager[None]:
    """Disk for `size` bytes of files below `folder` that are no version.

    Nothing is asked for where nothing is written: a disk below its floor is no reason then.
    """
    if not size:
        return contextlib.nullcontext()
    need_of_it = space.Need(size, size, size)
    options, listener = workspace.config.cache, workspace.listener
    return space.reserved(options, need_of_it, folder, copies(workspace), listener)


def copies(workspace: Workspace) -> Judge:
    """Why a version must stay as far as its remote is concerned; empty when a copy is there.

    A remote that did not answer after all retries is not asked again by the same call.
    """
    silent: dict[str, str] = {}

    def judge(found: Staged) -> str:
        url = found.receipt.remote
        if url in silent:
            return silent[url]
        try:
            return _copy_of(workspace, found)
        except StagerError as problem:
            reason = f"{url} does not say whether it has a copy: {problem}"
            if problem.transient:
                silent[url] = reason
            return reason

    return judge


def _copy_of(workspace: Workspace, found: Staged) -> str:
    """Empty when the remote has the version, with this content and its placement."""
    receipt = found.receipt
    store = workspace.store(receipt.remote)
    try:
        record = versions.read(store, receipt.name, receipt.version)
        if record.tree != receipt.tree:
            return f"no copy: in {receipt.remote} it has other content"
        if store.head(record.placement.key).size != record.placement.stored:
            return f"no copy: its placement in {receipt.remote} is not what the record says"
    except ObjectNotFound as problem:
        return f"no copy: {problem}"
    return ""


def _sources(workspace: Workspace, reuse: Reuse) -> set[tuple[str, str]]:
    """Name and version of what files and spans are taken from."""
    datasets = workspace.folders.root / "datasets"
    places = {*reuse.files.values(), *(span.source for span in reuse.spans)}
    parts = (
        Path(place).relative_to(datasets).parts
        for place in places
        if Path(place).is_relative_to(datasets)
    )
    return {(name.replace("+", "/"), version) for name, version, *_ in parts}
