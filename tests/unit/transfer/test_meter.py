"""transfer/meter.py"""

from __future__ import annotations

import pytest

from stager.events import Advanced, Requested
from stager.transfer.meter import KINDS, Meter


def test_requests_and_bytes_add_up() -> None:
    meter = Meter()
    meter(Requested("get", "a", 0, 5, 0.1))
    meter(Requested("get", "b", 0, 7, 0.1))
    meter(Requested("put", "c", 3, 0, 0.1))
    meter(Advanced(1000))
    assert meter.by_kind() == dict.fromkeys(KINDS, 0) | {"get": 2, "put": 1}
    assert (meter.sent, meter.received) == (3, 12)


@pytest.mark.parametrize(
    ("requests", "size", "limit"), [(10, 1_000_000, "network"), (10, 1000, "requests")]
)
def test_what_held_back_is_bandwidth_or_the_number_of_requests(
    requests: int, size: int, limit: str
) -> None:
    meter = Meter()
    for _ in range(requests):
        meter(Requested("get", "a", 0, size, 1.0))
    assert meter.limit() == limit


def test_nothing_moved_is_no_limit() -> None:
    assert Meter().limit() == "none"


def test_time_is_spent_on_what_took_most_of_it() -> None:
    meter = Meter()
    meter(Requested("get", "a", 0, 10**9, 0.0))
    with meter.spent_on("disk"):
        sum(range(10_000))
    assert meter.limit() == "disk"
    assert meter.seconds > 0


def test_time_counts_when_the_work_fails_too() -> None:
    meter = Meter()
    with pytest.raises(ZeroDivisionError), meter.spent_on("cpu"):
        _ = 1 / 0
    assert meter.limit() == "cpu"
