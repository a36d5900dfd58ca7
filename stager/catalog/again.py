"""Documents of a remote are read again once before they are called damaged.

A byte that a bad link changed is another byte the next time; one that lies in the store is
not. Frames have the same second look in ops/fetch.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from stager.errors import IntegrityError

T = TypeVar("T")


def twice(read: Callable[[], T]) -> T:
    """What `read` gives, after a second try where the first found damage."""
    try:
        return read()
    except IntegrityError:
        return read()
