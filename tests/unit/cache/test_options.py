"""cache/options.py"""

from __future__ import annotations

from pathlib import Path

import pytest

from stager.cache.options import CacheOptions
from stager.errors import ConfigError


@pytest.mark.parametrize("changes", [{}, {"free_floor": 0}, {"budget": 0}, {"budget": 1}], ids=str)
def test_values_that_can_work(changes: dict[str, int]) -> None:
    CacheOptions(Path("/cache"), **changes).validate()


@pytest.mark.parametrize("changes", [{"free_floor": -1}, {"budget": -1}], ids=str)
def test_a_value_that_cannot_work_is_named(changes: dict[str, int]) -> None:
    with pytest.raises(ConfigError) as caught:
        CacheOptions(Path("/cache"), **changes).validate()
    assert caught.value.fields["key"] == next(iter(changes))
