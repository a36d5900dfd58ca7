"""cache/locks.py: held by a process, released by the kernel when it dies."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import threading
from pathlib import Path

import pytest

from stager.cache.locks import check, exclusive, holder_of
from stager.errors import CacheBusy, CacheError
from stager.events import Event, Waiting, ignore
from tests.unit.cache.children import child_that


def test_a_lock_that_is_held_is_not_given(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "a.lock"
    with (
        exclusive(path, pytest.fail),
        pytest.raises(CacheBusy) as caught,
        exclusive(path, pytest.fail, wait=False),
    ):
        pytest.fail("two hold one lock")
    assert f"process {os.getpid()}" in str(caught.value)


def test_a_lock_that_was_let_go_is_free(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    for _ in range(2):
        with exclusive(path, pytest.fail, wait=False):
            pass
    with pytest.raises(ZeroDivisionError), exclusive(path, pytest.fail):
        _ = 1 / 0
    with exclusive(path, pytest.fail, wait=False):
        pass


def test_T49_a_waiter_says_whom_it_waits_for_and_then_has_it(tmp_path: Path) -> None:
    path, heard, order = tmp_path / "a.lock", list[Event](), list[str]()
    told = threading.Event()

    def tell(event: Event) -> None:
        heard.append(event)
        told.set()

    def wait() -> None:
        with exclusive(path, tell):
            order.append("second")

    waiter = threading.Thread(target=wait)
    with exclusive(path, ignore):
        waiter.start()
        assert told.wait(10)
        order.append("first")
    waiter.join(10)
    assert order == ["first", "second"]
    (event,) = heard
    assert isinstance(event, Waiting)
    assert event.what == "a"
    assert event.holder == f"process {os.getpid()}"


def test_T47_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    child = child_that(
        f"""
        from pathlib import Path
        from stager.cache.locks import exclusive
        from stager.events import ignore
        with exclusive(Path({str(path)!r}), ignore):
            ready()
        """
    )
    held_by_child = pytest.raises(CacheBusy, match=f"process {child.pid}")
    with held_by_child, exclusive(path, ignore, wait=False):
        pass
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    with exclusive(path, pytest.fail, wait=False):
        assert path.read_text() == f"process {os.getpid()}"


def test_a_shorter_name_leaves_nothing_of_a_longer_one(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    path.write_text("process 123456789 and more")
    with exclusive(path, pytest.fail):
        assert path.read_text() == f"process {os.getpid()}"


def test_a_lock_file_that_says_nothing_has_a_holder_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    path.write_bytes(b"")
    descriptor = os.open(path, os.O_RDONLY)
    assert holder_of(descriptor) == "another process"
    os.close(descriptor)


def test_checking_leaves_nothing_behind(tmp_path: Path) -> None:
    check(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_checking_says_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CacheError, match="nothing can be written there"):
        check(tmp_path / "absent")

    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(CacheError, match="has no flock"):
        check(tmp_path)
