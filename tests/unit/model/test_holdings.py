"""model/holdings.py: a placement without its files says the same as one with them."""

from __future__ import annotations

import pytest
from hypothesis import given

from stager.errors import ManifestInvalid
from stager.model import columns, holdings
from stager.model.placement import KIND, TYPES, Placement
from tests.unit.examples import contents, placed


def raw(placement: Placement, **changes: columns.Column) -> bytes:
    """The placement's bytes with some columns replaced."""
    table = columns.decode(KIND, placement.encode(), "test", TYPES) | changes
    return columns.encode(KIND, {name: (TYPES[name], table[name]) for name in TYPES})


@given(contents())
def test_packs_and_spans_are_those_of_the_placement(files: dict[str, bytes]) -> None:
    placement, _ = placed(files)
    found = holdings.decode(placement.encode(), "test")
    assert found.packs == placement.packs
    assert list(found.spans()) == [(f.pack, f.offset, f.stored) for f in placement.frames]


@pytest.mark.parametrize(
    "changes",
    [
        {"frame_pack": columns.integers("u32", [7])},
        {"frame_offset": columns.integers("u64")},
        {"pack_size": columns.integers("u64")},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_T26_a_placement_that_contradicts_itself_is_none(
    changes: dict[str, columns.Column],
) -> None:
    placement, _ = placed({"a": b"x"})
    with pytest.raises(ManifestInvalid):
        holdings.decode(raw(placement, **changes), "test")


def test_bytes_of_another_kind_are_refused() -> None:
    for data in (b"", b"{}\n", columns.encode("other", {})):
        with pytest.raises(ManifestInvalid):
            holdings.decode(data, "test")
