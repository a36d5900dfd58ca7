"""cache/eviction.py: a version is whole or not there, and what is needed stays."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from stager.cache import eviction, staged, staging
from stager.cache.eviction import evict, reason_to_stay, settle_all, settled
from stager.cache.folders import Folders
from stager.cache.leases import Lessee, leased
from stager.cache.locks import exclusive
from stager.events import ignore
from tests.unit.cache.children import child_that
from tests.unit.cache.test_staged import stage


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """An empty cache."""
    return Folders(tmp_path / "cache")


def left(folders: Folders) -> set[str]:
    """Names in the dataset's folder."""
    return {path.name for path in folders.dataset("alpaca").iterdir()}


def test_everything_of_one_version_goes(folders: Folders) -> None:
    assert evict(folders, stage(folders)) == ""
    stage(folders, version="v2")
    assert left(folders) == {"v2", "v2.json", "v2.placement"}


@pytest.mark.parametrize("force", [False, True])
def test_what_is_pinned_stays_always(folders: Folders, force: bool) -> None:
    found = stage(folders)
    staged.pin(folders, found, True)
    assert evict(folders, found, force=force) == "pinned"
    assert reason_to_stay(folders, found, {}) == "pinned"
    assert found.is_intact()
    assert left(folders) == {"v1", "v1.json", "v1.placement", "v1.pin"}


def test_what_is_leased_stays(folders: Folders) -> None:
    found = stage(folders)
    with leased(folders, [("alpaca", "v1")]):
        assert "leased by process" in reason_to_stay(folders, found, {})
        assert reason_to_stay(folders, found, {}, asker=os.getpid()) == ""
        assert "leased by process" in evict(folders, found)
        assert settled(folders, "alpaca", "v1", ignore) == found
    assert reason_to_stay(folders, found, {}) == ""
    assert evict(folders, found) == ""


@pytest.mark.parametrize("way", [{"force": True}, {"asker": os.getpid()}], ids=["force", "asker"])
def test_who_asks_or_forces_need_not_wait_for_a_lease(
    folders: Folders, way: dict[str, int]
) -> None:
    found = stage(folders)
    Lessee(folders, os.getpid()).lease("alpaca", "v1")
    assert evict(folders, found, asker=way.get("asker", 0), force="force" in way) == ""


def test_what_is_in_use_stays(folders: Folders) -> None:
    found = stage(folders)
    assert "in use by process" in reason_to_stay(folders, found, {found.folder: os.getpid()})


def test_what_is_being_staged_stays(folders: Folders) -> None:
    found = stage(folders)
    with exclusive(folders.tree_lock(found.receipt.tree), ignore):
        assert f"being staged by process {os.getpid()}" in evict(folders, found)
    assert found.is_intact()


def test_what_was_staged_anew_is_another(folders: Folders) -> None:
    found = stage(folders)
    newer = found._replace(receipt=found.receipt.__class__(**{**vars_of(found), "staged_at": "x"}))
    assert evict(folders, newer) == "staged anew"
    assert evict(folders, found) == evict(folders, found) == ""


def test_a_lease_that_appears_in_the_middle_is_seen(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The receipt is gone when the lease is written, and is put back."""
    found = stage(folders)
    rename = os.rename

    def rename_then_lease(source: Path, target: Path) -> None:
        rename(source, target)
        Lessee(folders, os.getpid()).lease("alpaca", "v1")

    monkeypatch.setattr(eviction.os, "rename", rename_then_lease)
    assert "leased" in evict(folders, found)
    monkeypatch.undo()
    assert staged.find(folders, "alpaca", "v1") == found
    assert left(folders) == {"v1", "v1.json", "v1.placement"}


def test_killed_after_the_receipt_was_taken_it_is_whole_again(folders: Folders) -> None:
    found = stage(folders)
    for settle in (lambda: settled(folders, "alpaca", "v1", ignore), lambda: settle_all(folders)):
        os.rename(folders.receipt("alpaca", "v1"), folders.evicted("alpaca", "v1"))
        assert staged.find(folders, "alpaca", "v1") is None
        settle()
        assert staged.find(folders, "alpaca", "v1") == found
        assert left(folders) == {"v1", "v1.json", "v1.placement"}


def test_killed_after_the_folder_went_it_is_not_there(folders: Folders) -> None:
    found = stage(folders)
    os.rename(folders.receipt("alpaca", "v1"), folders.evicted("alpaca", "v1"))
    staging.discard(found.folder)
    assert settled(folders, "alpaca", "v1", ignore) is None
    assert not folders.evicted("alpaca", "v1").exists()


def test_a_receipt_aside_never_replaces_a_newer_one(folders: Folders) -> None:
    found = stage(folders)
    data = folders.receipt("alpaca", "v1").read_bytes()
    folders.evicted("alpaca", "v1").write_bytes(data.replace(b"v1", b"v1"))
    settle_all(folders)
    assert staged.find(folders, "alpaca", "v1") == found
    assert not folders.evicted("alpaca", "v1").exists()


def test_a_damaged_receipt_aside_goes(folders: Folders) -> None:
    stage(folders)
    os.unlink(folders.receipt("alpaca", "v1"))
    folders.evicted("alpaca", "v1").write_bytes(b"{")
    assert settled(folders, "alpaca", "v1", ignore) is None
    assert not folders.evicted("alpaca", "v1").exists()


def test_an_eviction_under_way_is_waited_for_by_who_wants_it_and_not_by_others(
    folders: Folders,
) -> None:
    found = stage(folders)
    os.rename(folders.receipt("alpaca", "v1"), folders.evicted("alpaca", "v1"))
    child = child_that(
        f"""
        import os
        from pathlib import Path
        from stager.cache.folders import Folders
        from stager.cache.locks import exclusive
        from stager.events import ignore
        folders = Folders(Path({str(folders.root)!r}))
        with exclusive(folders.tree_lock({found.receipt.tree!r}), ignore):
            ready()
            os.rename(folders.evicted("alpaca", "v1"), folders.receipt("alpaca", "v1"))
        """
    )
    settle_all(folders)
    assert folders.evicted("alpaca", "v1").exists()
    assert child.stdin is not None
    child.stdin.close()
    assert settled(folders, "alpaca", "v1", ignore) == found
    child.wait()


def test_of_a_pull_and_an_eviction_at_once_the_pull_is_never_robbed(folders: Folders) -> None:
    """Two processes in a loop: what was leased and then found is still there.

    The child evicts the version whenever it is there; here it is staged, leased and looked
    for. Found under a lease, it must stay until the lease is given back. The child thinks
    for a moment between looking for leases and taking the receipt away.
    """
    tree = stage(folders).receipt.tree
    child = child_that(
        f"""
        import os, random, threading
        from pathlib import Path
        from stager.cache import staged
        from stager.cache.eviction import evict
        from stager.cache.folders import Folders
        folders = Folders(Path({str(folders.root)!r}))

        rename = os.rename
        def slowly(source, target):
            time.sleep(random.uniform(0, 0.002))
            rename(source, target)
        os.rename = slowly

        def work():
            while True:
                found = staged.find(folders, "alpaca", "v1")
                if found:
                    evict(folders, found)
        threading.Thread(target=work, daemon=True).start()
        ready()
        """
    )
    kept = robbed = evicted = 0
    try:
        for _ in range(150):
            lessee = Lessee(folders, os.getpid(), lasting=False)
            lessee.lease("alpaca", "v1")
            found = settled(folders, "alpaca", "v1", ignore)
            if found is None:
                evicted += 1
                with exclusive(folders.tree_lock(tree), ignore):
                    found = stage(folders)
            for _ in range(20):
                robbed += not found.is_intact()
            robbed += settled(folders, "alpaca", "v1", ignore) != found
            kept += 1
            lessee.release()
            time.sleep(0.0002)
    finally:
        child.kill()
        child.wait()
    assert kept == 150
    assert evicted > 10, "the two hardly met"
    assert robbed == 0


def vars_of(found: staged.Staged) -> dict[str, object]:
    """The fields of its receipt."""
    return {name: getattr(found.receipt, name) for name in found.receipt.__dataclass_fields__}
