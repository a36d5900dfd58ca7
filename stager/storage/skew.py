"""By how much this machine's clock differs from a store's, as its answers tell.

Stores refuse signatures of a moment more than 15 minutes away, and a token ends by the
store's clock. Any answer has a Date, also one that refuses; so nothing is signed or written.
"""

from __future__ import annotations

import time

from stager.storage.address import SCHEMES, locate
from stager.storage.credentials import web
from stager.storage.options import StorageOptions

SECONDS = 5.0


def ahead(url: str, options: StorageOptions) -> float | None:
    """Seconds this clock is ahead of the store's, to about one; None where it does not tell."""
    if url.partition("://")[0] not in SCHEMES:
        return None
    address = locate(url, options)
    suffix = ".cn" if address.region.startswith("cn-") else ""
    base = address.base or f"https://s3.{address.region}.amazonaws.com{suffix}"
    from email.utils import parsedate_to_datetime
    from http.client import HTTPException

    try:
        before = time.time()
        with web.opened(web.Question(f"{base}/", method="HEAD"), SECONDS, proxied=True) as answer:
            after = time.time()
            told = parsedate_to_datetime(answer.headers.get("Date", "")).timestamp()
    except (OSError, HTTPException, ValueError):
        return None
    return (before + after) / 2 - (told + 0.5)  # a Date has no fractions
