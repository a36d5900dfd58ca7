"""cache/folders.py: nothing of one version lies on something of another."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stager.cache.folders import Folders
from stager.errors import UsageError
from stager.model import names
from tests.unit.model.test_names import labels, segments

FOLDERS = Folders(Path("/cache"))
dataset_names = st.lists(segments, min_size=1, max_size=4).map("/".join)


def places(name: str, version: str) -> set[Path]:
    """All that belongs to one version."""
    of = (
        FOLDERS.version,
        FOLDERS.receipt,
        FOLDERS.placement,
        FOLDERS.pin,
        FOLDERS.evicted,
    )
    return {each(name, version) for each in of}


@given(dataset_names, dataset_names, labels, labels)
def test_no_version_lies_inside_another(one: str, other: str, first: str, second: str) -> None:
    if (one, first) == (other, second):
        return
    for place, folder in product(places(one, first), places(other, second)):
        assert not place.is_relative_to(folder)


@pytest.mark.parametrize("suffix", ["json", "placement", "pin"])
def test_a_label_that_would_lie_on_a_receipt_is_refused(suffix: str) -> None:
    with pytest.raises(UsageError):
        names.check_label(f"v1.{suffix}")


def test_every_name_that_is_allowed_fits_a_file_system() -> None:
    longest = "/".join(["x" * 100, "x" * (names.MAX_NAME - 101)])
    names.check_name(longest)
    with pytest.raises(UsageError):
        names.check_name(longest + "x")
    for place in places(longest, "v" * 100):
        assert all(len(part.encode()) <= 255 for part in place.parts)


def test_a_destination_is_known_by_its_whole_path() -> None:
    assert FOLDERS.placed(Path("/data/a")) != FOLDERS.placed(Path("/data/b"))
    assert FOLDERS.placed(Path("/data/a")) == FOLDERS.placed(Path("/data/a/"))


def test_locks_and_promises_lie_apart() -> None:
    assert FOLDERS.lock("space") != FOLDERS.reservations
    assert FOLDERS.leases != FOLDERS.reservations
    assert FOLDERS.staging("blake3:00") == Path("/cache/staging/blake3-00")
    assert FOLDERS.tree_lock("blake3:00") == FOLDERS.lock("blake3-00")
