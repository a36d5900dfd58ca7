"""What `.dvc/config` and `.dvc/config.local` say of caches and remotes.

The files are INI as ConfigObj writes it: sections like `['remote "storage"']`, values that
may be quoted, indentation without meaning. Of two files the later wins key by key. A path is
relative to the folder of the file that names it.
"""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from typing import NamedTuple

from stager.errors import ConfigError
from stager.model.names import nearest

SEPARATE = ("version_aware", "worktree")  # such a remote holds files by name, not by digest


class Remote(NamedTuple):
    """A DVC remote; `url` is absolute, a local folder has no scheme in it."""

    name: str
    url: str
    options: Mapping[str, str]

    @property
    def is_folder(self) -> bool:
        """Whether it lies on this node."""
        return "://" not in self.url

    @property
    def is_by_digest(self) -> bool:
        """Whether its objects are named by their md5."""
        return not any(self.options.get(key, "").lower() == "true" for key in SEPARATE)


class Settings(NamedTuple):
    """Sections by name, from all files; `folder` is `.dvc`, where they lie."""

    folder: str
    sections: Mapping[str, Mapping[str, str]]

    @property
    def cache(self) -> str:
        """The folder of the local cache."""
        return self._path(self.sections.get("cache", {}).get("dir", "cache"))

    def remote(self, name: str = "") -> Remote | None:
        """The remote of that name or the default; None when no name is given or set.

        ConfigError for a name that no section has.
        """
        name = name or self.sections.get("core", {}).get("remote", "")
        if not name:
            return None
        options = self._section(name)
        url = options["url"]
        if url.startswith("remote://"):  # a folder below another remote
            other, _, below = url.removeprefix("remote://").partition("/")
            upper = self._section(other)
            url = f"{upper['url'].rstrip('/')}/{below}".rstrip("/")
            options = {**upper, **options}
        if url.startswith("file://"):
            url = url.removeprefix("file://")
        return Remote(name, url.rstrip("/") if "://" in url else self._path(url), options)

    def _section(self, name: str) -> Mapping[str, str]:
        section = self.sections.get(f'remote "{name}"', {})
        if not section.get("url"):
            known = [key[8:-1] for key in self.sections if key.startswith('remote "')]
            reason = f"no remote {name!r} with a url{nearest(name, known)}"
            raise ConfigError(key="remote", origin=".dvc/config", reason=reason)
        return section

    def _path(self, text: str) -> str:
        return os.path.normpath(os.path.join(self.folder, os.path.expanduser(text)))


def parse(folder: str, *texts: bytes | None) -> Settings:
    """The settings of the files given, later ones above earlier ones; None is no file."""
    sections: dict[str, dict[str, str]] = {}
    for text in texts:
        parser = configparser.RawConfigParser(strict=False, comment_prefixes=("#",))
        lines = (line.strip() for line in (text or b"").decode(errors="replace").splitlines())
        try:
            parser.read_string("\n".join(lines))
        except configparser.Error as problem:
            reason = " ".join(str(problem).split())
            raise ConfigError(key="the file", origin=".dvc/config", reason=reason) from None
        for name in parser.sections():
            values = {key: _unquoted(value) for key, value in parser.items(name)}
            sections.setdefault(_unquoted(name), {}).update(values)
    return Settings(folder, sections)


def _unquoted(text: str) -> str:
    text = text.strip()
    for quote in ("'", '"'):
        if len(text) >= 2 and text[0] == text[-1] == quote:
            return text[1:-1]
    return text
