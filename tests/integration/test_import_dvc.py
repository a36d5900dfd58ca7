"""`stager import --dvc`: objects in remotes on S3, objects of DVC 2, and hostile lists."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from tests.integration.conftest import TRACKED
from tests.integration.test_import import damage, imported, no_version
from tests.integration.test_push import make
from tests.support import corpus
from tests.support.command import Stager, contents
from tests.support.foreign import dvc_project
from tests.support.s3_server import S3Server


def test_a_remote_on_s3(on_s3: Stager, s3_server: S3Server, bucket: str, tmp_path: Path) -> None:
    project = dvc_project(tmp_path / "project", s3_server.environment())
    make(project.folder / "data", TRACKED)
    corpus.incompressible(project.folder / "data" / "large.bin", 40_000_000, seed=1)
    project.dvc("remote", "add", "--quiet", "--default", "store", f"s3://{bucket}/dvc")
    project.dvc("remote", "modify", "store", "endpointurl", s3_server.endpoint)
    project.dvc("add", "--quiet", "data")
    project.commit()
    project.dvc("push", "--quiet")
    expected = contents(project.folder / "data")
    shutil.rmtree(project.folder / ".dvc" / "cache")
    planned = on_s3.json("import", "--dvc", project.folder, "data", "d", "--dry-run")
    assert planned["bytes_raw"] == planned["bytes_fetched"] == sum(map(len, expected.values()))
    assert on_s3.run("log", "d").code == 31
    report, found = imported(on_s3, "--dvc", project.folder, "data", "d")
    assert found == expected
    assert report["bytes_fetched"] == sum(map(len, expected.values()))
    assert list((on_s3.cache / "staging").iterdir()) == []


def test_the_keys_and_endpoint_of_a_remote_are_used(
    local: Stager, s3_server: S3Server, bucket: str, tmp_path: Path
) -> None:
    project = dvc_project(tmp_path / "project")
    make(project.folder, {"one.txt": b"one\n"})
    project.dvc("remote", "add", "--quiet", "other", f"s3://{bucket}/dvc")
    for name, value in (
        ("endpointurl", s3_server.endpoint),
        ("access_key_id", s3_server.access_key),
        ("secret_access_key", s3_server.secret_key),
    ):
        project.dvc("remote", "modify", "--local", "other", name, value)
    project.dvc("add", "--quiet", "one.txt")
    project.dvc("push", "--quiet", "--remote", "other")
    shutil.rmtree(project.folder / ".dvc" / "cache")
    refused = local.run("import", "--dvc", project.folder, "one.txt", "d")
    assert refused.code == 50 and "neither in the cache nor in the remote" in refused.stderr
    how = ("--dvc", project.folder, "one.txt", "d", "--dvc-remote", "other")
    assert imported(local, *how)[1] == {"one.txt": b"one\n"}


def test_a_wrong_object_of_a_remote_on_s3_is_named_and_so_are_absent_ones(
    on_s3: Stager, s3_server: S3Server, bucket: str, tmp_path: Path
) -> None:
    from stager.storage.connect import connect

    project = dvc_project(tmp_path / "project", s3_server.environment())
    make(project.folder / "data", TRACKED)
    project.dvc("remote", "add", "--quiet", "--default", "store", f"s3://{bucket}/dvc")
    project.dvc("add", "--quiet", "data")
    project.dvc("push", "--quiet")
    shutil.rmtree(project.folder / ".dvc" / "cache")
    store = connect(f"s3://{bucket}/dvc", on_s3.workspace().config.storage)
    digest = hashlib.md5(TRACKED["z"]).hexdigest()
    store.put(f"files/md5/{digest[:2]}/{digest[2:]}", b"y")
    result = on_s3.run("import", "--dvc", project.folder, "data", "d")
    assert result.code == 50 and f"expected {digest}" in result.stderr
    assert on_s3.run("log", "d").code == 31
    gone = [hashlib.md5(TRACKED[name]).hexdigest() for name in ("labels.csv", "im/1.bin")]
    store.delete([f"files/md5/{absent[:2]}/{absent[2:]}" for absent in gone])
    for more in ([], ["--dry-run"]):
        result = on_s3.run("import", "--dvc", project.folder, "data", "d", *more)
        assert result.code == 50
        for name, absent in zip(("labels.csv", "im/1.bin"), gone, strict=True):
            finding = f"'{name}': {absent} is neither in the cache nor in the remote"
            assert finding in result.stderr


def old_repository(folder: Path, files: dict[str, bytes], size: int = -1) -> Path:
    """As DVC 2 left it: no `hash` in the pointer, objects right below the cache."""
    make(
        folder, {".dvc/config": b"[core]\n    remote = s\n['remote \"s\"']\n    url = ../nowhere\n"}
    )
    listed = []
    for name, data in files.items():
        unix = data.replace(b"\r\n", b"\n") if b"\0" not in data[:512] else data
        digest = hashlib.md5(unix).hexdigest()
        make(folder / ".dvc" / "cache", {f"{digest[:2]}/{digest[2:]}": data})
        listed.append({"md5": digest, "relpath": name})
    text = json.dumps(listed).encode()
    whole = hashlib.md5(text).hexdigest() + ".dir"
    make(folder / ".dvc" / "cache", {f"{whole[:2]}/{whole[2:]}": text})
    pointer = f"outs:\n- md5: {whole}\n  size: {size}\n  nfiles: 4\n  path: data\n"
    make(folder, {"data.dvc": pointer.encode()})
    return folder


def test_a_repository_of_dvc_2(local: Stager, tmp_path: Path) -> None:
    repo = old_repository(tmp_path / "old", TRACKED)
    report, found = imported(local, "--dvc", repo, "data", "d")
    assert found == TRACKED and report["checked"] == 4
    digest = hashlib.md5(b"a,b\n1,2\n").hexdigest()
    damage(repo / ".dvc" / "cache" / digest[:2] / digest[2:])
    result = local.run("import", "--dvc", repo, "data", "e")
    assert result.code == 50 and f"md5-dos2unix: expected {digest}" in result.stderr


@pytest.mark.parametrize("name", ["../out", "/etc/passwd", "a/../../b", "a//b", "x\\y", "."])
def test_T26_a_hostile_path_in_a_list_is_refused(local: Stager, tmp_path: Path, name: str) -> None:
    repo = old_repository(tmp_path / "old", {"good": b"1", name: b"2"}) if name[0] != "/" else None
    if repo is None:
        repo = old_repository(tmp_path / "old", {"good": b"1"})
        listing = next((repo / ".dvc" / "cache").rglob("*.dir"))
        text = listing.read_bytes().replace(b'"good"', json.dumps(name).encode())
        whole = hashlib.md5(text).hexdigest()
        make(repo / ".dvc" / "cache", {f"{whole[:2]}/{whole[2:]}.dir": text})
        (repo / "data.dvc").write_text(f"outs:\n- md5: {whole}.dir\n  path: data\n")
    result = local.run("import", "--dvc", repo, "data", "d")
    assert result.code == 50
    assert json.dumps(name)[1:-1] in result.stderr
    assert no_version(local)
