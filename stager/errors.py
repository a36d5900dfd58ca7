"""Every failure stager reports, as one tree.

    StagerError                     1
      UsageError                    2   the request makes no sense
      ConfigError                   3   a setting is missing or wrong
      MissingExtra                  4   an optional package is not installed
      StorageError                 10   raised only by storage/
        ObjectNotFound             11
        AccessDenied               12
          CredentialsExpired       16   new ones were looked for, and none found
        StorageUnavailable         13   transient: the one that is retried
          StorageThrottled         17   asks for fewer requests at once
        PreconditionFailed         14   lost a race for a key, or the object changed
        ObjectUnaddressable        15   the store holds keys this transport cannot name
      IntegrityError               20
        DigestMismatch             21
        ManifestInvalid            22
        SourceChanged              23   an object or file changed under a version or a push
      VersionError                 30
        VersionNotFound            31
        TagMoved                   32
        VersionExists              33
        VersionHeld                34   a tag points to it
      CacheError                   40
        DiskFull                   41
        CacheBusy                  42
        DestinationOccupied        43
      DataError                    50   input that cannot be a version
      RetentionRefused             60   deleting was not proven safe; nothing was deleted
    Cancelled                     130   outside the tree: `except StagerError` must not swallow it

A class is a sentence and a number. The sentence is filled with the fields given to the
constructor, the number is the process exit code, `transient` says whether trying again
can help. Programmer mistakes stay ValueError and show a traceback.
"""

from __future__ import annotations

from collections.abc import Sequence


class StagerError(Exception):
    """stager could not do what was asked: {reason}"""

    exit_code = 1
    transient = False

    def __init__(self, *, hint: str = "", **fields: object) -> None:
        self.fields = fields
        self.hint = hint
        super().__init__(sentence(type(self)).format_map(_Known(fields)))

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross process borders whole."""
        return _restored, (type(self), self.hint, self.fields)


class UsageError(StagerError):
    """{reason}"""

    exit_code = 2


class ConfigError(StagerError):
    """setting {key} ({origin}): {reason}"""

    exit_code = 3


class MissingExtra(StagerError):
    """{purpose} needs the package {package}: pip install 'stager[{extra}]'"""

    exit_code = 4


class StorageError(StagerError):
    """{url}: {reason}"""

    exit_code = 10


class ObjectNotFound(StorageError):
    """{url}: no such object"""

    exit_code = 11


class AccessDenied(StorageError):
    """{url}: access denied: {reason}"""

    exit_code = 12


class CredentialsExpired(AccessDenied):
    """{url}: the credentials are no longer valid: {reason}"""

    exit_code = 16


class StorageUnavailable(StorageError):
    """{url}: the store does not answer: {reason}"""

    exit_code = 13
    transient = True


class StorageThrottled(StorageUnavailable):
    """{url}: the store asks to slow down: {reason}"""

    exit_code = 17


class PreconditionFailed(StorageError):
    """{url}: exists already or is no longer the object that was expected"""

    exit_code = 14


class ObjectUnaddressable(StorageError):
    """{url}: holds keys that this transport cannot name: {reason}"""

    exit_code = 15


class IntegrityError(StagerError):
    """{where}: {reason}"""

    exit_code = 20


class DigestMismatch(IntegrityError):
    """{key} at byte {offset}: expected {expected}, got {actual}"""

    exit_code = 21


class ManifestInvalid(IntegrityError):
    """{where}: not a valid {kind}: {reason}"""

    exit_code = 22


class SourceChanged(IntegrityError):
    """changed since it was read: {names}"""

    exit_code = 23


class VersionError(StagerError):
    """{reference}: {reason}"""

    exit_code = 30


class VersionNotFound(VersionError):
    """{reference}: no such version or tag{nearest}"""

    exit_code = 31


class TagMoved(VersionError):
    """{reference}: somebody else moved this tag at the same moment"""

    exit_code = 32


class VersionExists(VersionError):
    """{reference}: this version exists already, with other content"""

    exit_code = 33


class VersionHeld(VersionError):
    """not removed, a tag points to it: {reference}"""

    exit_code = 34


class CacheError(StagerError):
    """{path}: {reason}"""

    exit_code = 40


class DiskFull(CacheError):
    """{path}: {needed} needed, {free} free{detail}"""

    exit_code = 41


class CacheBusy(CacheError):
    """{path}: held by {holder}"""

    exit_code = 42


class DestinationOccupied(CacheError):
    """{path}: holds something stager did not put there{detail}"""

    exit_code = 43


class DataError(StagerError):
    """{count} problem(s) in {where}:\n{listing}"""

    exit_code = 50


class RetentionRefused(StagerError):
    """nothing was deleted: {reason}"""

    exit_code = 60


class Cancelled(BaseException):
    """Stopped by the user; what was done so far is kept for the next run."""

    exit_code = 130


def _restored(kind: type[StagerError], hint: str, fields: dict[str, object]) -> StagerError:
    return kind(hint=hint, **fields)


class _Known(dict[str, object]):
    """Fields for a sentence; one that was not given reads as an empty string."""

    def __missing__(self, key: str) -> str:
        return ""


def sentence(kind: type[StagerError]) -> str:
    """The sentence of an error class: its docstring."""
    return kind.__doc__ or "{reason}"


def problems(where: str, findings: Sequence[str], shown: int = 50) -> DataError:
    """One DataError naming every finding, the listing cut after `shown` lines."""
    listing = "\n".join(f"  {finding}" for finding in findings[:shown])
    if len(findings) > shown:
        listing += f"\n  ... and {len(findings) - shown} more"
    return DataError(count=len(findings), where=where, listing=listing, findings=list(findings))


def tree() -> list[type[StagerError]]:
    """Every error class, parents before children, in the order of definition."""
    found: list[type[StagerError]] = []

    def visit(kind: type[StagerError]) -> None:
        found.append(kind)
        for child in kind.__subclasses__():
            visit(child)

    visit(StagerError)
    return found
