"""Every writing verb dies before and after its operations on the store, one after the other.

T50 T06: whatever the point, no version lies, none that was there is gone, and the same command
given again ends right. `make test` strikes at the first, the last and every eighth operation,
`make chaos` at each of them, and at every change of a name on the disk.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.chaos.kill_ground import ACTS, READS, KillGround, until_unharmed
from tests.support.forked import zygote
from tests.support.traps import DIED

SAMPLE = 8
WRITES_STORE = [name for name in ACTS if name not in READS]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KillGround]:
    """A remote with versions, tags and garbage, laid out anew for each strike."""
    with zygote() as forks:
        yield KillGround(tmp_path_factory.mktemp("kills"), forks)


@pytest.mark.parametrize("name", WRITES_STORE)
def test_T50_a_kill_at_some_operations_on_the_store(ground: KillGround, name: str) -> None:
    for side in ("before", "after"):
        ends = []
        for step in range(1, 2000, SAMPLE):
            end = ground.strike(name, f"storage:{side}:{step}")
            if not end:
                break
            ends.append(end)
        assert ends and set(ends) == {str(DIED)}


@pytest.mark.soak
@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("name", WRITES_STORE)
def test_T50_a_kill_at_every_operation_on_the_store(
    ground: KillGround, name: str, side: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = until_unharmed(lambda step: ground.strike(name, f"storage:{side}:{step}"))
    assert ends and set(ends) == {str(DIED)}
    _report(capsys, f"kill matrix | {name} | {side} | {len(ends)}")


@pytest.mark.soak
@pytest.mark.parametrize("name", ACTS)
def test_T50_a_kill_at_every_change_on_the_disk(
    ground: KillGround, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = until_unharmed(lambda step: ground.strike(name, f"disk:die:{step}"))
    assert ends and set(ends) == {str(DIED)}
    _report(capsys, f"kill matrix | {name} | disk | {len(ends)}")


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["EIO", "ENOSPC+", "EROFS"])
@pytest.mark.parametrize("name", ACTS)
def test_T16_a_disk_that_refuses_every_change_in_turn(
    ground: KillGround, name: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One typed error, or the verb did without; `strike` runs it again where it failed."""
    ends = []
    for step in range(1, 4000, SAMPLE // 2):
        end = ground.strike(name, f"disk:{kind}:{step}")
        if not end:
            break
        ends.append(end)
    assert ends and str(DIED) not in ends
    _report(capsys, f"kill matrix | {name} | {kind} | {len(ends)} | exits {sorted(set(ends))}")


def _report(capsys: pytest.CaptureFixture[str], text: str) -> None:
    with capsys.disabled():
        print(f"\n{text}")
