"""transfer/options.py"""

from __future__ import annotations

import pytest

from stager.errors import ConfigError
from stager.transfer.options import TransferOptions


def test_defaults_are_in_order() -> None:
    TransferOptions().validate()


@pytest.mark.parametrize("name", ["connections", "encoders", "uploads"])
@pytest.mark.parametrize("value", [0, -1, 257])
def test_a_value_that_cannot_work_is_named(name: str, value: int) -> None:
    with pytest.raises(ConfigError) as caught:
        TransferOptions(**{name: value}).validate()
    assert caught.value.fields["key"] == name
