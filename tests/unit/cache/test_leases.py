"""cache/leases.py: a lease holds while its process lives, and for that process alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stager.cache import leases
from stager.cache.folders import Folders
from stager.cache.leases import UNSEEN_SECONDS, Lessee, holders, leased, process_at
from tests.unit.cache.children import child_that


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """An empty cache."""
    return Folders(tmp_path / "cache")


def files(folders: Folders) -> list[Path]:
    """Lease files that are there."""
    return sorted(folders.leases.iterdir()) if folders.leases.exists() else []


def renamed(folders: Folders, at: int, value: str) -> Path:
    """The only lease, with another word at a place of its name."""
    (path,) = files(folders)
    parts = path.name.split(".")
    parts[at] = value
    return path.rename(path.with_name(".".join(parts)))


def test_a_lease_of_this_process_holds(folders: Folders) -> None:
    assert holders(folders, "a", "v1") == []
    Lessee(folders, os.getpid()).lease("a", "v1")
    assert holders(folders, "a", "v1") == [leases.named(os.getpid())]
    assert holders(folders, "a", "v2") == holders(folders, "a/v1", "v1") == []
    assert holders(folders, "a", "v1", but=os.getpid()) == []
    assert len(files(folders)) == 1


def test_a_lease_of_another_process_holds_until_it_dies(folders: Folders) -> None:
    child = child_that("ready()")
    Lessee(folders, child.pid).lease("a", "v1")
    assert holders(folders, "a", "v1")[0].startswith(f"process {child.pid} (")
    child.kill()
    deadline = time.monotonic() + 10
    while process_at(child.pid) is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert holders(folders, "a", "v1") == []  # a zombie: nobody has waited for it
    assert files(folders) == []
    child.wait()


def test_a_recycled_pid_is_no_lease(folders: Folders) -> None:
    Lessee(folders, os.getpid()).lease("a", "v1")
    renamed(folders, 2, "1")
    assert holders(folders, "a", "v1") == []
    assert files(folders) == []


def test_a_lease_from_before_a_reboot_is_none(folders: Folders) -> None:
    Lessee(folders, os.getpid()).lease("a", "v1")
    renamed(folders, 4, "another-boot")
    assert holders(folders, "a", "v1") == []


def test_a_process_that_cannot_be_seen_is_believed_for_a_week(folders: Folders) -> None:
    Lessee(folders, os.getpid()).lease("a", "v1")
    path = renamed(folders, 3, "77")
    assert "another container" in holders(folders, "a", "v1")[0]
    before = time.time() - UNSEEN_SECONDS - 60
    os.utime(path, (before, before))
    assert holders(folders, "a", "v1") == []
    assert files(folders) == [path]  # it may be renewed at this moment
    os.utime(path, (1, 1))
    assert holders(folders, "a", "v1") == []
    assert files(folders) == []


def test_a_sweep_takes_what_is_over_and_nothing_else(folders: Folders) -> None:
    for version in ("v1", "v2", "v3"):
        Lessee(folders, os.getpid()).lease("a", version)
    leases.sweep(folders)
    assert len(files(folders)) == 3
    path = files(folders)[0]
    path.rename(path.with_name(path.name.replace(f".{os.getpid()}.", f".{2**22 + 1}.")))
    leases.sweep(folders)
    assert len(files(folders)) == 2


def test_leasing_again_renews(folders: Folders) -> None:
    Lessee(folders, os.getpid()).lease("a", "v1")
    (path,) = files(folders)
    os.utime(path, (1, 1))
    Lessee(folders, os.getpid()).lease("a", "v1")
    assert files(folders) == [path]
    assert path.stat().st_mtime > 1


def test_what_is_given_back_is_ones_own(folders: Folders) -> None:
    lasting, passing = Lessee(folders, os.getpid()), Lessee(folders, os.getpid(), lasting=False)
    lasting.lease("a", "v1")
    passing.lease("a", "v1")
    passing.lease("a", "v2")
    passing.release()
    assert len(holders(folders, "a", "v1")) == 1
    assert holders(folders, "a", "v2") == []
    again = Lessee(folders, os.getpid())
    again.lease("a", "v1")
    again.release()  # it was leased before
    assert len(holders(folders, "a", "v1")) == 1


def test_leased_for_a_block(folders: Folders) -> None:
    with pytest.raises(ZeroDivisionError), leased(folders, [("a", "v1"), ("b", "v2")]):
        assert holders(folders, "a", "v1") == holders(folders, "b", "v2") != []
        _ = 1 / 0
    assert files(folders) == []


def test_nobody_leases_nothing(folders: Folders) -> None:
    Lessee(folders, 0).lease("a", "v1")
    Lessee(folders, 2**22 + 1).lease("a", "v1")  # above any pid
    assert files(folders) == []


def test_an_init_is_nobody_and_any_other_first_process_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(leases, "_name_of", lambda pid: "systemd")
    assert process_at(1) is None
    assert process_at(os.getpid()) is not None
    monkeypatch.setattr(leases, "_name_of", lambda pid: "bash")
    assert process_at(1) is not None


@pytest.mark.parametrize("name", ["x", "x.1.2", "x.a.b.c.d", ".", "x.1.2.3"])
def test_what_is_no_lease_is_left_alone(folders: Folders, name: str) -> None:
    folders.leases.mkdir(parents=True)
    if name != ".":
        (folders.leases / name).touch()
    assert holders(folders, "a", "v1") == []


def test_names_and_labels_of_any_length_can_be_leased(folders: Folders) -> None:
    Lessee(folders, os.getpid(), lasting=False).lease("/".join(["x" * 66] * 3), "v" * 100)
    assert len(files(folders)) == 1


def test_a_lease_is_cheap(folders: Folders) -> None:
    """A no-op pull takes one; less than a millisecond even on a busy machine."""
    lessee = Lessee(folders, os.getpid())
    lessee.lease("a", "v1")
    times = []
    for number in range(50):
        began = time.perf_counter()
        Lessee(folders, os.getpid()).lease("a", f"v{number}")
        times.append(time.perf_counter() - began)
    assert sorted(times)[len(times) // 2] < 0.001


@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_the_caller_of_a_command_substitution_is_the_script(shell: str) -> None:
    script = f"P=$({sys.executable} -c 'import os; print(os.getppid())'); echo $P $$"
    done = subprocess.run([shell, "-c", script], capture_output=True, text=True, check=True)
    parent, script_pid = done.stdout.split()
    assert parent == script_pid
