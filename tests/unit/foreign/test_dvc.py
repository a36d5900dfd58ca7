"""foreign/dvc.py: where objects lie, and lists that are not to be believed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stager.errors import DataError, DigestMismatch, UsageError
from stager.foreign import dvc
from stager.foreign.dvc import Wanted, files_of, settings_of, wanted
from stager.foreign.dvc_config import Settings
from stager.foreign.dvc_outputs import Output
from stager.foreign.trees import FolderTree
from stager.storage.connect import connect
from stager.storage.store import ObjectStore


def md5(data: bytes) -> str:
    """In hexadecimal."""
    return hashlib.md5(data).hexdigest()


def keep(cache: Path, data: bytes, ending: str = "") -> str:
    """Puts an object where DVC 3 would; its digest."""
    digest = md5(data)
    path = cache / "files" / "md5" / digest[:2] / f"{digest[2:]}{ending}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return digest + ending


def want(cache: Path, digest: str, below: str = "", **changes: Any) -> Wanted:
    """An output `in/d` with this digest and the objects of `cache`."""
    facts: dict[str, Any] = {"is_old": False, "size": -1, "remote": "", "files": ()}
    output = Output("in/d", "in/d.dvc", digest, **(facts | changes))
    return Wanted(output, below, Settings(str(cache.parent), {"cache": {"dir": str(cache)}}), None)


def listed(cache: Path, files: Mapping[str, bytes], absent: frozenset[str] = frozenset()) -> str:
    """A folder in the cache, some of whose files are not there."""
    entries = []
    for name, data in files.items():
        digest = md5(data) if name in absent else keep(cache, data)
        entries.append({"md5": digest, "relpath": name})
    return keep(cache, json.dumps(entries).encode(), ".dir")


def test_the_files_of_a_folder_and_of_its_parts(tmp_path: Path) -> None:
    digest = listed(tmp_path, {"a": b"1", "s/b": b"2", "s/t/c": b"3"})
    for below, names in [("", ["a", "s/b", "s/t/c"]), ("s", ["b", "t/c"]), ("s/t/c", ["c"])]:
        found = files_of(want(tmp_path, digest, below), None)
        assert [file.path for file in found.files] == names
        assert all(md5(Path(file.location).read_bytes()) == file.expected for file in found.files)
        assert (found.findings, found.provenance) == ((), {"md5": digest})
    with pytest.raises(UsageError, match="no 'x' in 'in/d'"):
        files_of(want(tmp_path, digest, "x"), None)


def test_a_single_file(tmp_path: Path) -> None:
    digest = keep(tmp_path, b"1")
    (file,) = files_of(want(tmp_path, digest, size=1), None).files
    assert (file.path, file.size, file.algorithm, file.expected) == ("d", 1, "md5", digest)
    with pytest.raises(UsageError, match="is a file"):
        files_of(want(tmp_path, digest, "x"), None)


def test_objects_of_dvc_2_lie_elsewhere_and_have_another_digest(tmp_path: Path) -> None:
    digest = keep(tmp_path, b"1")
    assert files_of(want(tmp_path, digest, is_old=True), None).findings
    (tmp_path / digest[:2]).mkdir()
    (tmp_path / digest[:2] / digest[2:]).write_bytes(b"1")
    (file,) = files_of(want(tmp_path, digest, is_old=True), None).files
    assert file.algorithm == "md5-dos2unix"
    assert Path(file.location).parent.parent == tmp_path


@pytest.fixture
def store(request: pytest.FixtureRequest) -> ObjectStore:
    """A remote in memory."""
    return connect(f"memory://{request.node.name}")


def test_what_is_not_here_has_its_key_or_is_a_finding(tmp_path: Path, store: ObjectStore) -> None:
    digest = listed(tmp_path, {"a": b"1", "b": b"2"}, frozenset("b"))
    found = files_of(want(tmp_path, digest), store)
    key = f"files/md5/{md5(b'2')[:2]}/{md5(b'2')[2:]}"
    assert [(bool(file.location), file.key) for file in found.files] == [(True, ""), (False, key)]
    (finding,) = files_of(want(tmp_path, digest), None).findings
    assert "'b'" in finding and md5(b"2") in finding


def test_a_list_comes_from_the_remote_too_and_is_checked(
    tmp_path: Path, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = json.dumps([{"md5": md5(b"1"), "relpath": "a"}]).encode()
    digest = f"{md5(data)}.dir"
    key = f"files/md5/{digest[:2]}/{digest[2:]}"
    with pytest.raises(DataError, match="neither in the cache nor in the remote"):
        files_of(want(tmp_path, digest), store)
    store.put(key, data)
    assert [file.path for file in files_of(want(tmp_path, digest), store).files] == ["a"]
    store.put(key, data.replace(b'"a"', b'"b"'))
    with pytest.raises(DigestMismatch):
        files_of(want(tmp_path, digest), store)
    monkeypatch.setattr(dvc, "MAX_LIST_BYTES", 10)
    with pytest.raises(DataError, match="over 10 bytes"):
        files_of(want(tmp_path, digest), store)


HOSTILE: list[Any] = [
    [{"md5": "0" * 32, "relpath": "../x"}],
    [{"md5": "0" * 32, "relpath": "/x"}],
    [{"md5": "0" * 32, "relpath": "a/../../x"}],
    [{"md5": "0" * 32, "relpath": "a\\b"}],
    [{"md5": "0" * 32, "relpath": ""}],
    [{"md5": "0" * 32, "relpath": "x"}] * 2,
    [{"md5": "0" * 32, "relpath": "x"}, {"md5": "0" * 32, "relpath": "x/y"}],
    [{"md5": "../../../../etc/passwd", "relpath": "x"}],
    [{"md5": "0" * 32, "relpath": 5}],
    [{"md5": "0" * 32}],
    [{"relpath": "x"}],
    ["x"],
    {"md5": "x"},
    5,
    None,
]


@pytest.mark.parametrize("entries", HOSTILE)
def test_T26_a_list_that_is_hostile_is_refused(tmp_path: Path, entries: Any) -> None:
    digest = keep(tmp_path, json.dumps(entries).encode(), ".dir")
    with pytest.raises(DataError):
        files_of(want(tmp_path, digest), None)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000])
def test_a_list_that_is_no_json_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(DataError):
        files_of(want(tmp_path, keep(tmp_path, data, ".dir")), None)


def test_every_offender_of_a_list_is_named(tmp_path: Path) -> None:
    entries = [{"md5": "0" * 32, "relpath": name} for name in ("../x", "ok", "a//b")]
    with pytest.raises(DataError) as caught:
        files_of(want(tmp_path, keep(tmp_path, json.dumps(entries).encode(), ".dir")), None)
    assert len(caught.value.fields["findings"]) == 2  # type: ignore[arg-type]


def test_the_files_of_a_version_aware_remote_need_no_list(tmp_path: Path) -> None:
    item = {"relpath": "x", "md5": keep(tmp_path, b"1"), "size": "1"}
    (file,) = files_of(want(tmp_path, "", files=(item,)), None).files
    assert (file.path, file.size) == ("x", 1)


def test_the_configuration_of_today_serves_old_commits(tmp_path: Path) -> None:
    then, now = tmp_path / "then", tmp_path / "now"
    for folder, name in ((then, "old"), (now, "new")):
        (folder / ".dvc").mkdir(parents=True)
        text = f"[core]\nremote = {name}\n['remote \"{name}\"']\nurl = s3://{name}\n"
        (folder / ".dvc" / "config").write_text(text)
    (now / ".dvc" / "config.local").write_text("['remote \"new\"']\nregion = eu\n")
    (now / "a.dvc").write_text(f"outs:\n- {{md5: {'0' * 32}, path: a}}\n")
    settings = settings_of(FolderTree(str(then)), str(now), FolderTree(str(now)))
    remote = wanted(FolderTree(str(now)), settings, "a").remote
    assert remote is not None and (remote.url, remote.options["region"]) == ("s3://new", "eu")
    old = settings_of(FolderTree(str(then)), str(then)).remote()
    assert old is not None and old.url == "s3://old"
    with pytest.raises(UsageError, match="not a DVC repository"):
        settings_of(FolderTree(str(tmp_path)), str(tmp_path))


def test_a_version_aware_remote_is_not_asked_for_objects(tmp_path: Path) -> None:
    (tmp_path / ".dvc").mkdir()
    text = "[core]\nremote = v\n['remote \"v\"']\nurl = s3://v\nversion_aware = true\n"
    (tmp_path / ".dvc" / "config").write_text(text)
    (tmp_path / "a.dvc").write_text(f"outs:\n- {{md5: {'0' * 32}, path: a, hash: md5}}\n")
    tree = FolderTree(str(tmp_path))
    assert wanted(tree, settings_of(tree, str(tmp_path)), "a").remote is None
