"""gc: frees what no version refers to.

    plan      list the content first, then read every record and placement: what is old and
              not referred to is a candidate
    sweep     kind by kind, in the order of KINDS: look at the records again, drop what a
              version made meanwhile refers to, compare each candidate with what was listed,
              delete what is still the same

Killed anywhere, no version loses a byte: only what none refers to is ever deleted. Running
pushes are safe because what they send is young (catalog/renewal.py tells of what they find).

Checkpoints (`runs/`) and derived artefacts (`derived/`) are left alone: nothing writes them
yet. A derived artefact will be referred to by its completion marker, and what lies beside no
marker for longer than the grace will be a candidate here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from stager.catalog import clock, remote
from stager.catalog.inventory import content
from stager.errors import RetentionRefused, UsageError
from stager.events import Began
from stager.model import layout
from stager.model.layout import FRESH_SECONDS
from stager.ops.survey import Survey
from stager.ops.sweep import sweep
from stager.storage.store import ObjectInfo, ObjectStore
from stager.workspace import Workspace

GRACE_SECONDS = 7 * 86_400
LEAST_GRACE = 2 * FRESH_SECONDS

# In the order they are deleted: an index says where records lie in a pack, a placement names
# packs, so what points goes before what it points to where that costs nothing to anybody.
KINDS = ("indexes", "packs", "placements", "plain", "probes", "unfinished", "companions")


@dataclass(frozen=True, slots=True)
class GcRequest:
    """Objects younger than `grace` seconds stay; `force` is for who knows that nobody pushes."""

    grace: int = GRACE_SECONDS
    force: bool = False


@dataclass(frozen=True, slots=True)
class Tally:
    """So many objects, so many bytes."""

    objects: int = 0
    bytes: int = 0

    def plus(self, size: int) -> Tally:
        """One object more."""
        return Tally(self.objects + 1, self.bytes + size)


@dataclass(frozen=True, slots=True)
class GcReport:
    """What was freed, or with `dry_run` would be, and what stays, by kind.

    `removed` are versions that were removed less than the grace ago and count as if they
    were there. Seconds and bytes.
    """

    versions: int
    removed: int
    grace: int
    freed: Mapping[str, Tally]
    kept: Mapping[str, Tally]
    objects_freed: int = 0
    bytes_freed: int = 0
    requests: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    dry_run: bool = False


@dataclass(slots=True)
class _Plan:
    """Candidates by kind, old and not referred to; and how much there is of every kind."""

    candidates: dict[str, list[ObjectInfo]] = field(default_factory=dict)
    listed: dict[str, Tally] = field(default_factory=dict)


def gc(workspace: Workspace, request: GcRequest, dry_run: bool = True) -> GcReport:
    """Deletes nothing unless everything that could refer to it was read."""
    _check(request)
    store = remote.open_for_reading(workspace.remote)
    now = time.time() if dry_run else _store_now(store)
    survey = Survey(workspace, now - request.grace, now, request.force)
    plan = _plan(store, survey, request)
    if dry_run:
        freed = {kind: _tally(found) for kind, found in plan.candidates.items()}
    else:
        freed = _execute(workspace, survey, plan)
    return _report(workspace, request, survey, plan, freed, dry_run)


def _check(request: GcRequest) -> None:
    if request.grace < LEAST_GRACE and not request.force:
        reason = f"a grace of {request.grace} s: a running push relies on {LEAST_GRACE} s"
        raise UsageError(reason=reason, hint="--force, when you know that nobody pushes")


def _store_now(store: ObjectStore) -> float:
    now = clock.now(store)
    if not now:
        raise RetentionRefused(reason=f"{store.url} does not say when objects were written")
    return now


def _plan(store: ObjectStore, survey: Survey, request: GcRequest) -> _Plan:
    """The content is listed before the records are: what a version refers to was there then."""
    plan = _Plan()
    spared: set[str] = set()
    for kind, info in content(store):
        plan.listed[kind] = plan.listed.get(kind, Tally()).plus(info.size)
        if 0 < info.modified <= survey.since:
            plan.candidates.setdefault(kind, []).append(info)
        elif kind == "indexes":  # somebody is about to send its pack
            spared.add(layout.PACKS + info.key.removeprefix(layout.RECORDS))
    found = survey.look()
    if plan.candidates and not (found.versions or found.removed or request.force):
        reason = f"{store.url}: no version is listed, though there is content"
        raise RetentionRefused(reason=reason, hint="--force, when there is none")
    for kind, listed in plan.candidates.items():
        plan.candidates[kind] = [
            info for info in listed if info.key not in spared and not survey.holds(kind, info)
        ]
    plan.candidates["companions"] = orphans = survey.orphans(found)
    plan.listed["companions"] = _tally(orphans)
    return plan


def _execute(workspace: Workspace, survey: Survey, plan: _Plan) -> dict[str, Tally]:
    freed: dict[str, Tally] = {}
    count = sum(map(len, plan.candidates.values()))
    workspace.listener(Began("gc", count, "objects"))
    for kind in KINDS:
        if not plan.candidates.get(kind):
            continue
        found = survey.look()
        if kind == "companions":
            orphans = {info.key for info in survey.orphans(found)}
            doomed = [info for info in plan.candidates[kind] if info.key in orphans]
        else:
            doomed = [info for info in plan.candidates[kind] if not survey.holds(kind, info)]
        freed[kind] = _tally(sweep(workspace, doomed))
    return freed


def _tally(found: Iterable[ObjectInfo]) -> Tally:
    total = Tally()
    for info in found:
        total = total.plus(info.size)
    return total


def _report(
    workspace: Workspace,
    request: GcRequest,
    survey: Survey,
    plan: _Plan,
    freed: Mapping[str, Tally],
    dry_run: bool,
) -> GcReport:
    nothing = Tally()
    kept = {
        kind: Tally(there.objects - gone.objects, there.bytes - gone.bytes)
        for kind, there in plan.listed.items()
        for gone in (freed.get(kind, nothing),)
    }
    return GcReport(
        versions=len(survey.live),
        removed=len(survey.removed - survey.live),
        grace=request.grace,
        freed={kind: gone for kind, gone in freed.items() if gone.objects},
        kept={kind: there for kind, there in kept.items() if there.objects},
        objects_freed=sum(gone.objects for gone in freed.values()),
        bytes_freed=sum(gone.bytes for gone in freed.values()),
        requests=workspace.meter.by_kind(),
        seconds=round(workspace.meter.seconds, 3),
        dry_run=dry_run,
    )
