"""Settings: defaults < stager.toml < environment < flags, each with its origin.

`stager.toml` is looked for from the working directory upward, then in the user's config
directory. Its keys, the `STAGER_<KEY>` variables and the flags have the same names:

    remote, cache                         where versions live, where they are staged
    endpoint, region, network             where the store answers; network: public, internal,
                                          accelerate
    addressing                            auto, path, virtual, cname (the endpoint is the bucket)
    anonymous                             unsigned requests (false), for public buckets
    profile                               which one of the vendors' own files; see `stager doctor`
    transport, stall_seconds, attempts    how to talk to it; transport: auto, fsspec
    connections, encoders, uploads        how much at once
    budget, free_floor                    disk the cache may take, and must leave alone: 500GB
    record_index                          write it beside packs (true); see `stager push`
    author                                named in version records

The vendors' own variables for endpoint and region (AWS_ENDPOINT_URL, OSS_REGION, ...) hold
where no setting of stager's says otherwise, each for its own scheme. This is the only module
that reads os.environ.
"""

from __future__ import annotations

import difflib
import getpass
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stager.cache.options import CacheOptions
from stager.errors import ConfigError
from stager.model.sizes import parse_size
from stager.storage.credentials.values import CredentialOptions
from stager.storage.options import StorageOptions
from stager.transfer.options import TransferOptions

FILE_NAME = "stager.toml"
VENDOR_PREFIXES = ("AWS_", "OSS_", "ALIBABA_CLOUD_", "COS_", "TENCENTCLOUD_", "TKE_")
TEXTS = (
    *("remote", "cache", "endpoint", "region", "addressing", "network", "profile", "transport"),
    "author",
)
INTEGERS = ("attempts", "connections", "encoders", "uploads")
NUMBERS = ("stall_seconds",)
SIZES = ("budget", "free_floor")
SWITCHES = ("record_index", "anonymous")
KEYS = TEXTS + INTEGERS + NUMBERS + SIZES + SWITCHES

# Variables of the vendors for endpoint and region: the AWS SDKs', ossutil 2's and ossfs's,
# cosfs's and tccli's.
_PLACES = {
    "aws": (("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"), ("AWS_REGION", "AWS_DEFAULT_REGION")),
    "oss": (("OSS_ENDPOINT",), ("OSS_REGION", "ALIBABA_CLOUD_REGION_ID")),
    "cos": (("COS_ENDPOINT",), ("COS_REGION", "TENCENTCLOUD_REGION")),
}
_STORAGE = (
    *("endpoint", "region", "addressing", "network", "anonymous", "transport"),
    *("stall_seconds", "attempts"),
)
_TRANSFER = ("connections", "encoders", "uploads")
_CACHE = SIZES

_NOTHING_SET = """no remote is set. Write two lines into stager.toml:
    remote = "s3://bucket/team"      # or a local folder
    cache = "/nvme/stager"
or run `stager init`, or set STAGER_REMOTE and STAGER_CACHE"""


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that was set, and by whom."""

    remote: str | None
    author: str
    cache: CacheOptions
    storage: StorageOptions
    transfer: TransferOptions
    record_index: bool = True
    origins: Mapping[str, str] = field(default_factory=dict)

    def value(self, key: str) -> object:
        """The value in force of one of KEYS."""
        if key == "cache":
            return str(self.cache.path)
        if key == "profile":
            return self.storage.credentials.profile
        holders = (self, self.storage, self.cache, self.transfer)
        return getattr(next(holder for holder in holders if hasattr(holder, key)), key)

    def required_remote(self) -> str:
        """The remote; ConfigError that says what to write when there is none."""
        if not self.remote:
            raise ConfigError(key="remote", origin="nowhere", reason=_NOTHING_SET)
        return self.remote


def load(
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Config:
    """The settings in force; ConfigError names key and origin of a bad one."""
    environ = os.environ if environ is None else environ
    values: dict[str, tuple[Any, str]] = {}
    _from_file(values, folder or Path.cwd(), environ)
    _from_environment(values, environ)
    for key, value in (flags or {}).items():
        if value is not None:
            values[key] = (value, f"--{key.replace('_', '-')}")
    return _assembled(values, environ)


def config_home(environ: Mapping[str, str]) -> Path:
    """The user's config directory of stager."""
    base = environ.get("XDG_CONFIG_HOME") or str(_home(environ) / ".config")
    return Path(base) / "stager"


def _from_file(
    values: dict[str, tuple[Any, str]], folder: Path, environ: Mapping[str, str]
) -> None:
    path = _found_file(folder, environ)
    if path is None:
        return
    import tomllib

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigError(key="the file", origin=str(path), reason=str(problem)) from problem
    for key, value in document.items():
        _check_known(key, str(path))
        if key in ("remote", "cache") and isinstance(value, str) and "://" not in value:
            value = str(path.parent / Path(value).expanduser())
        values[key] = (value, str(path))


def _found_file(folder: Path, environ: Mapping[str, str]) -> Path | None:
    places = [folder.absolute(), *folder.absolute().parents]
    candidates = [place / FILE_NAME for place in places] + [config_home(environ) / FILE_NAME]
    return next((path for path in candidates if path.is_file()), None)


def _from_environment(values: dict[str, tuple[Any, str]], environ: Mapping[str, str]) -> None:
    for key in KEYS:
        variable = f"STAGER_{key.upper()}"
        if environ.get(variable):
            values[key] = (environ[variable], variable)


def _check_known(key: str, origin: str) -> None:
    if key not in KEYS:
        near = difflib.get_close_matches(key, KEYS, n=1)
        reason = "no such setting" + (f"; did you mean {near[0]!r}?" if near else "")
        raise ConfigError(key=key, origin=origin, reason=reason)


def _assembled(values: dict[str, tuple[Any, str]], environ: Mapping[str, str]) -> Config:
    typed = {key: _typed(key, value, origin) for key, (value, origin) in values.items()}
    origins = {key: origin for key, (_, origin) in values.items()}

    def chosen(keys: tuple[str, ...]) -> dict[str, Any]:
        return {key: typed[key] for key in keys if key in typed}

    storage = StorageOptions(
        places={vendor: _place(vendor, environ) for vendor in _PLACES},
        credentials=CredentialOptions(
            _of_vendors(environ), _home(environ), typed.get("profile", "")
        ),
        **chosen(_STORAGE),
    )
    cache_path = typed.get("cache") or _default_cache(environ)
    cache = CacheOptions(path=Path(cache_path).expanduser().absolute(), **chosen(_CACHE))
    transfer = TransferOptions(**chosen(_TRANSFER))
    for options in (storage, cache, transfer):
        try:
            options.validate()
        except ConfigError as problem:
            key = str(problem.fields["key"])
            origin = origins.get(key, "default")
            raise ConfigError(key=key, origin=origin, reason=problem.fields["reason"]) from None
    author = typed.get("author") or environ.get("USER") or _user()
    index = typed.get("record_index", True)
    return Config(typed.get("remote"), author, cache, storage, transfer, index, origins)


def _place(vendor: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """Endpoint and region that a vendor's own variables name."""
    endpoint, region = (
        next((environ[name] for name in names if environ.get(name)), "")
        for names in _PLACES[vendor]
    )
    return endpoint, region


def _of_vendors(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables in which vendors and their tools keep credentials."""
    return {name: value for name, value in environ.items() if name.startswith(VENDOR_PREFIXES)}


def _home(environ: Mapping[str, str]) -> Path:
    """The user's home; in a container a user may have none."""
    try:
        return Path(environ.get("HOME") or Path.home())
    except RuntimeError:
        return Path("/")


def _default_cache(environ: Mapping[str, str]) -> str:
    base = environ.get("XDG_CACHE_HOME") or str(_home(environ) / ".cache")
    return str(Path(base) / "stager")


def _user() -> str:
    """The login name; in a container a user may have none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"


def _typed(key: str, value: Any, origin: str) -> Any:
    if key in SWITCHES:
        return _switched(key, value, origin)
    if key in SIZES and isinstance(value, str):
        try:
            return parse_size(value)
        except ValueError as problem:
            raise ConfigError(key=key, origin=origin, reason=str(problem)) from None
    kind: type = str if key in TEXTS else float if key in NUMBERS else int
    if isinstance(value, (Path, str)) and kind is str:
        return str(value)
    try:
        if kind is str or (kind is int and isinstance(value, float) and value % 1):
            raise ValueError(value)
        return kind(value)
    except (ValueError, TypeError):
        reason = f"{value!r} is not a {'text' if kind is str else 'number'}"
        raise ConfigError(key=key, origin=origin, reason=reason) from None


def _switched(key: str, value: Any, origin: str) -> bool:
    found = {"true": True, "1": True, "false": False, "0": False}.get(str(value).lower())
    if found is None:
        raise ConfigError(key=key, origin=origin, reason=f"{value!r} is not true or false")
    return found
