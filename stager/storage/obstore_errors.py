"""What a failure of obstore means: by the answer it quotes, else by its class.

obstore words a refusal as "... status code: 403 Forbidden: <body>", with the store's XML as
the body and the object's URL in front. So a code is looked for in its XML element only, and a
status behind its words: an object may be named `AccessDenied`.
"""

from __future__ import annotations

import re

from obstore import exceptions as foreign

from stager.errors import (
    AccessDenied,
    ObjectNotFound,
    ObjectUnaddressable,
    PreconditionFailed,
    StorageError,
    StorageUnavailable,
)
from stager.storage.answers import SHOWN, Answer, meaning
from stager.storage.credentials.redaction import redacted

_CODE = re.compile(r"<Code>([A-Za-z0-9_.-]+)</Code>")
_STATUS = re.compile(r"(?:status|status code)[: ]+([345]\d\d)")


def translate(problem: Exception, url: str) -> StorageError:
    """The most specific error of our own; transient where trying again can help."""
    whole = " ".join(str(problem).split())
    text = redacted(whole)[:SHOWN]
    match problem:
        case FileNotFoundError() if "<Code>NoSuchBucket</Code>" not in whole:
            return ObjectNotFound(url=url)
        case foreign.AlreadyExistsError() | foreign.PreconditionError():
            return PreconditionFailed(url=url)
        case foreign.InvalidPathError():
            return ObjectUnaddressable(url=url, reason=text)
    if "Could not parse path" in whole:
        return ObjectUnaddressable(url=url, reason=text)
    if "Invalid range" in whole:
        return StorageError(url=url, reason="the range lies past the end of the object")
    code, status = _CODE.search(whole), _STATUS.search(whole)
    answer = Answer(int(status[1]) if status else 0, code[1] if code else "", whole)
    if (known := meaning(answer, url)) is not None:
        return known
    match problem:
        case foreign.PermissionDeniedError() | foreign.UnauthenticatedError():
            return AccessDenied(url=url, reason=text)
        case ValueError():
            return StorageError(url=url, reason=text)
    if "redirect without LOCATION" in whole:  # S3, for a bucket of another region
        hint = "the bucket lies in another region: set `region`"
        return StorageError(url=url, reason=text, hint=hint)
    return StorageUnavailable(url=url, reason=text)
