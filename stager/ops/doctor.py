"""doctor: what is set and by whom, who signs, whether the remote and the cache can be used.

Nothing is written to the remote. What does not work is part of the report; the first such
thing is its `problem`, by which the command exits.
"""

from __future__ import annotations

import dataclasses
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from stager import config
from stager.cache import locks
from stager.cache.filesystem import file_system_of
from stager.catalog import remote
from stager.errors import AccessDenied, StagerError
from stager.storage import connect, skew
from stager.storage.address import SCHEMES, locate, refuse_secrets
from stager.storage.credentials.provider import USED, WRONG, Attempt
from stager.storage.credentials.redaction import redacted
from stager.storage.store import Capabilities
from stager.workspace import Workspace

PATIENCE = 2  # attempts: who asks for a diagnosis does not want to wait for it
IN_STEP = 2.0  # seconds
TOO_FAR = 900.0  # from here on stores refuse

# The core's packages that move and check bytes, and those of the extras that stager imports.
PACKAGES = (
    *("stager", "obstore", "fsspec", "blake3", "xxhash", "zstandard", "numpy"),
    *("s3fs", "botocore", "ossfs", "alibabacloud-oss-v2", "alibabacloud-credentials", "cosfs"),
    *("pyyaml", "dvc"),
)


@dataclass(frozen=True, slots=True)
class DoctorRequest:
    """With `offline` no server is asked anything."""

    offline: bool = False


class Setting(NamedTuple):
    """A key, its value in force, and who said so."""

    key: str
    value: object
    origin: str


@dataclass(frozen=True, slots=True)
class RemoteReport:
    """Where the remote is, who signs, and what it answered.

    `ahead` is by how many seconds this machine's clock is ahead of the store's. `abilities`
    are sentences on what its store can do and cannot.
    """

    url: str
    vendor: str
    bucket: str = ""
    prefix: str = ""
    endpoint: str = ""
    region: str = ""
    addressing: str = ""
    credentials: tuple[Attempt, ...] = ()
    answer: str = "not asked"
    ahead: float | None = None
    abilities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CacheReport:
    """Where the cache is, and what its disk allows; bytes, a budget of 0 is none."""

    path: str
    file_system: str
    free: int
    free_floor: int
    budget: int
    locks: str


@dataclass(frozen=True, slots=True)
class Problem:
    """The first thing that does not work, as an error of its class says it."""

    error: str
    exit_code: int
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """Everything that was found; usable when there is no problem."""

    python: str
    settings: tuple[Setting, ...]
    remote: RemoteReport | None
    cache: CacheReport
    packages: dict[str, str]
    problem: Problem | None


class _Findings:
    """What went wrong, in the order in which it was met."""

    def __init__(self) -> None:
        self.problems: list[StagerError] = []

    def of(self, call: Callable[[], str]) -> str:
        """What a check says; its failure in words, kept."""
        try:
            return call()
        except StagerError as problem:
            self.problems.append(problem)
            return redacted(str(problem))

    @property
    def first(self) -> Problem | None:
        """The failure to exit by."""
        if not self.problems:
            return None
        found = self.problems[0]
        said = redacted(str(found))
        return Problem(type(found).__name__, found.exit_code, said, found.hint)


def doctor(workspace: Workspace, request: DoctorRequest) -> DoctorReport:
    """Looks at everything; raises for nothing that it is there to find."""
    settings = tuple(_settings(workspace.config))
    findings = _Findings()
    cache = _cache(workspace, findings)
    found = _remote(workspace, request, findings)
    return DoctorReport(
        python=f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        settings=settings,
        remote=found,
        cache=cache,
        packages=_packages(),
        problem=findings.first,
    )


def _settings(found: config.Config) -> list[Setting]:
    origins = found.origins
    rows = []
    for key in config.KEYS:
        value = found.value(key)
        shown = redacted(value) if isinstance(value, str) else value
        rows.append(Setting(key, shown, origins.get(key, "default")))
    return rows


def _remote(
    workspace: Workspace, request: DoctorRequest, findings: _Findings
) -> RemoteReport | None:
    found: RemoteReport | None = None

    def looked() -> str:
        nonlocal found
        found = _placed(workspace)
        return ""

    if findings.of(looked) or found is None:
        return None
    return _asked(workspace, request, found, findings)


def _placed(workspace: Workspace) -> RemoteReport:
    """Where the remote is by settings alone."""
    url, options = workspace.remote_url, workspace.config.storage
    refuse_secrets(url)
    scheme = url.partition("://")[0]
    if scheme not in SCHEMES:
        return RemoteReport(url, {"file": "local disk"}.get(scheme, scheme))
    address = locate(url, options)
    endpoint = address.base or f"Amazon's for {address.region}"
    return RemoteReport(
        url=url,
        vendor=address.vendor,
        bucket=address.bucket,
        prefix=address.prefix,
        endpoint=endpoint,
        region=address.region,
        addressing=address.addressing,
    )


def _asked(
    workspace: Workspace, request: DoctorRequest, found: RemoteReport, findings: _Findings
) -> RemoteReport:
    options = dataclasses.replace(workspace.config.storage, attempts=PATIENCE)
    keys = connect.signer(found.url, options)
    attempts = tuple(keys.explain(ask=not request.offline)) if keys else ()
    if request.offline:
        findings.of(lambda: _signable(attempts))
        return dataclasses.replace(found, credentials=attempts)
    abilities: list[str] = []

    def read() -> str:
        began = time.monotonic()
        store = connect.connect(found.url, options)
        facts = remote.facts(store)
        took = f"in {(time.monotonic() - began) * 1000:.0f} ms"
        abilities.extend(_abilities(store.capabilities, facts))
        return f"answers {took}; " + (
            f"format {facts['format']}" if facts else "nothing was pushed yet"
        )

    answer = findings.of(read)
    return dataclasses.replace(
        found,
        credentials=attempts,
        answer=answer,
        ahead=skew.ahead(found.url, options),
        abilities=tuple(abilities),
    )


def _signable(attempts: tuple[Attempt, ...]) -> str:
    """Offline a wrong source is all that can be known to be a problem."""
    for attempt in attempts:
        if attempt.state == USED:
            break
        if attempt.state == WRONG:
            raise AccessDenied(url=f"credentials from {attempt.source}", reason=attempt.detail)
    return ""


def _abilities(can: Capabilities, facts: dict[str, object] | None) -> list[str]:
    exclusive = can.create_only and (facts is None or facts.get("create_only", True))
    return [
        "two pushes at once cannot take the same version number"
        if exclusive
        else "records are read back after writing, since creating is not exclusive",
        "reads of adopted objects are pinned to one state by the store"
        if can.if_match
        else "reads of adopted objects are compared before and after",
        *can.limits,
    ]


def _cache(workspace: Workspace, findings: _Findings) -> CacheReport:
    options = workspace.config.cache
    there = _nearest(options.path)
    system = file_system_of(there)

    def locked() -> str:
        locks.check(there)
        return "work"

    return CacheReport(
        path=str(options.path),
        file_system=f"{system.kind} at {system.mounted_at}",
        free=system.free,
        free_floor=options.free_floor,
        budget=options.budget,
        locks=findings.of(locked),
    )


def _nearest(path: Path) -> Path:
    """The folder itself, or the nearest one above that is there."""
    return next(place for place in (path, *path.parents) if place.exists())


def _packages() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
