"""`stager import --dvc REPO[@REV] PATH NAME`, with repositories that DVC itself made."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import TRACKED
from tests.integration.test_push import make
from tests.support import corpus
from tests.support.command import Stager, contents
from tests.support.foreign import Project


def imported(stager: Stager, *arguments: str | Path) -> tuple[Any, dict[str, bytes]]:
    """The report of an import that must succeed, and what a pull of the version brings."""
    report = stager.json("import", *arguments)
    stager.ok("pull", report["reference"])
    return report, contents(stager.path(report["reference"]))


def provenance(stager: Stager, reference: str) -> Any:
    """Where a version says that it came from."""
    return stager.json("show", reference)["provenance"]


def cached(folder: Path, data: bytes) -> Path:
    """Where DVC 3 keeps these bytes below its cache or a remote."""
    digest = hashlib.md5(data).hexdigest()
    return folder / "files" / "md5" / digest[:2] / digest[2:]


def damage(path: Path) -> None:
    """Flips the first bit of a file, keeping its size."""
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    os.chmod(path, 0o644)
    path.write_bytes(data)


def no_version(stager: Stager) -> bool:
    """Whether nothing was made that could be taken for one."""
    return not stager.remote_folder.joinpath("datasets").exists()


def test_a_folder_from_the_cache(stager: Stager, project: Project) -> None:
    head = project.git("rev-parse", "HEAD").strip()
    report, found = imported(stager, "--dvc", project.folder, "data", "d")
    assert found == TRACKED
    assert (report["checked"], report["unchecked"], report["bytes_fetched"]) == (4, 0, 0)
    said = provenance(stager, "d@v1")
    assert said.pop("md5").endswith(".dir")
    assert said == {"kind": "import-dvc", "repo": "project", "rev": head, "path": "data"}


def test_what_is_imported_is_what_a_push_would_make(local: Stager, project: Project) -> None:
    tree = local.json("push", project.folder / "data", "pushed")["tree"]
    assert local.json("import", "--dvc", project.folder, "data/", "imported")["tree"] == tree
    again = local.json("import", "--dvc", project.folder, "./data", "imported")
    assert (again["created"], again["version"]) == (False, "v1")


def test_the_folder_may_be_gone_from_the_working_tree(local: Stager, project: Project) -> None:
    shutil.rmtree(project.folder / "data")
    assert imported(local, "--dvc", project.folder, "data", "d")[1] == TRACKED


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("data/im", {"1.bin": TRACKED["im/1.bin"], "2.bin": b""}),
        ("data/labels.csv", {"labels.csv": TRACKED["labels.csv"]}),
        ("data/im/1.bin", {"1.bin": TRACKED["im/1.bin"]}),
    ],
)
def test_a_part_of_a_tracked_folder(
    local: Stager, project: Project, path: str, expected: dict[str, bytes]
) -> None:
    assert imported(local, "--dvc", project.folder, path, "d")[1] == expected
    assert provenance(local, "d@v1")["path"] == path


def test_objects_come_from_the_remote_where_the_cache_lacks_them(
    local: Stager, project: Project
) -> None:
    cached(project.folder / ".dvc" / "cache", TRACKED["labels.csv"]).unlink()
    assert imported(local, "--dvc", project.folder, "data", "some")[1] == TRACKED
    shutil.rmtree(project.folder / ".dvc" / "cache")
    assert imported(local, "--dvc", project.folder, "data", "all")[1] == TRACKED


def test_objects_that_are_nowhere_are_all_named(
    local: Stager, project: Project, tmp_path: Path
) -> None:
    for name in ("labels.csv", "z"):
        for folder in (project.folder / ".dvc" / "cache", tmp_path / "dvc-remote"):
            cached(folder, TRACKED[name]).unlink()
    result = local.run("import", "--dvc", project.folder, "data", "d")
    assert result.code == 50
    for name in ("labels.csv", "z"):
        assert (
            f"'{name}'" in result.stderr and hashlib.md5(TRACKED[name]).hexdigest() in result.stderr
        )
    assert no_version(local)


def test_every_object_that_is_not_its_md5_is_named_and_nothing_is_made(
    local: Stager, project: Project
) -> None:
    large = project.folder / "data" / "train.jsonl"
    corpus.jsonl(large, 20_000_000, seed=1)
    project.dvc("add", "--quiet", "data")
    wrong = {"labels.csv": TRACKED["labels.csv"], "train.jsonl": large.read_bytes()}
    for data in wrong.values():
        damage(cached(project.folder / ".dvc" / "cache", data))
    result = local.run("import", "--dvc", project.folder, "data", "d")
    assert result.code == 50
    for name, data in wrong.items():
        assert f"'{name}': md5: expected {hashlib.md5(data).hexdigest()}, got" in result.stderr
    assert "'z'" not in result.stderr
    assert no_version(local)
    assert list((local.cache / "staging").iterdir()) == []


def test_a_revision(local: Stager, project: Project) -> None:
    project.git("tag", "first")
    first = project.git("rev-parse", "HEAD").strip()
    make(project.folder / "data", {"z": b"changed"})
    project.dvc("add", "--quiet", "data")
    second = project.commit()
    reports = [
        imported(local, "--dvc", f"{project.folder}@{rev}", "data", "d")
        for rev in ("first", "HEAD", first[:10])
    ]
    assert [found["z"] for _, found in reports] == [b"z", b"changed", b"z"]
    revs = [provenance(local, report["reference"])["rev"] for report, _ in reports]
    assert revs == [first, second, first]


def test_a_pointer_edited_since_the_commit_claims_no_commit(
    local: Stager, project: Project
) -> None:
    head = project.git("rev-parse", "HEAD").strip()
    make(project.folder / "data", {"z": b"changed"})
    project.dvc("add", "--quiet", "data")
    assert imported(local, "--dvc", project.folder, "data", "d")[1]["z"] == b"changed"
    said = provenance(local, "d@v1")
    assert "rev" not in said
    assert (said["uncommitted"], said["head"]) == ("data.dvc", head)


def test_a_url_is_cloned_and_its_credentials_are_not_recorded(
    local: Stager, project: Project
) -> None:
    url = f"file://{project.folder}"
    assert imported(local, "--dvc", f"{url}@main", "data", "d")[1] == TRACKED
    said = provenance(local, "d@v1")
    assert said["rev"] == project.git("rev-parse", "HEAD").strip()
    assert str(project.folder) not in json.dumps(said)
    result = local.run("import", "--dvc", "http://me:hunter2@127.0.0.1:9/x.git", "data", "d")
    assert result.code == 2
    assert "hunter2" not in result.stderr + result.stdout
    assert list((local.cache / "staging").iterdir()) == []


def test_a_stage_recorded_in_dvc_lock(local: Stager, project: Project) -> None:
    make(
        project.folder,
        {
            "pipe/dvc.yaml": b"stages:\n  build:\n    wdir: work\n"
            b"    cmd: mkdir -p out && echo made > out/a.txt\n    outs: [out]\n",
            "pipe/work/keep": b"",
        },
    )
    project.dvc("repro", "--quiet", "pipe/dvc.yaml")
    project.commit()
    path = "pipe/work/out"
    assert imported(local, "--dvc", project.folder, path, "d")[1] == {"a.txt": b"made\n"}
    assert imported(local, "--dvc", f"{project.folder}@HEAD", path, "e")[1] == {"a.txt": b"made\n"}


def test_a_single_tracked_file(local: Stager, project: Project) -> None:
    make(project.folder, {"one.txt": b"one\n"})
    project.dvc("add", "--quiet", "one.txt")
    assert imported(local, "--dvc", project.folder, "one.txt", "d")[1] == {"one.txt": b"one\n"}
    assert "uncommitted" in provenance(local, "d@v1")


def test_a_repository_without_git(local: Stager, tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    make(project.folder, {"one.txt": b"one\n"})
    project.dvc("init", "--no-scm", "--quiet")
    project.dvc("add", "--quiet", "one.txt")
    assert imported(local, "--dvc", project.folder, "one.txt", "d")[1] == {"one.txt": b"one\n"}
    assert "rev" not in provenance(local, "d@v1")


def test_a_list_that_is_not_its_md5_is_refused(local: Stager, project: Project) -> None:
    (listing,) = (project.folder / ".dvc" / "cache").rglob("*.dir")
    damage(listing)
    assert local.run("import", "--dvc", project.folder, "data", "d").code == 21
    assert no_version(local)


def test_a_dry_run_makes_nothing_and_names_what_is_missing(
    local: Stager, project: Project, tmp_path: Path
) -> None:
    report = local.json("import", "--dvc", project.folder, "data", "d", "--dry-run")
    assert (report["files"], report["checked"], report["created"]) == (4, 4, False)
    assert report["bytes_raw"] == sum(map(len, TRACKED.values()))
    assert no_version(local)
    for folder in (project.folder / ".dvc" / "cache", tmp_path / "dvc-remote"):
        cached(folder, TRACKED["z"]).unlink()
    assert local.run("import", "--dvc", project.folder, "data", "d", "--dry-run").code == 50


def test_what_makes_no_sense_is_said(local: Stager, project: Project, tmp_path: Path) -> None:
    repo = str(project.folder)
    (tmp_path / "plain").mkdir()
    for arguments, words in [
        (["data", "d"], "give one of"),
        (["--dvc", repo, "--git-lfs", repo, "data", "d"], "give one of"),
        (["--dvc", repo, "d"], "PATH NAME"),
        (["--hf", repo, "data", "d"], "--hf takes NAME"),
        (["--dvc", repo, "dta", "d"], "did you mean data?"),
        (["--dvc", repo, ".", "d"], "outputs below it: data"),
        (["--dvc", repo, "../data", "d"], "'..'"),
        (["--dvc", repo, "data/none", "d"], "no 'none' in 'data'"),
        (["--dvc", repo, "data", "d@latest"], "latest"),
        (["--dvc", f"{repo}@nope", "data", "d"], "no revision 'nope'"),
        (["--dvc", f"{repo}@--help", "data", "d"], "no revision"),
        (["--dvc", str(tmp_path / "plain"), "data", "d"], "not a Git repository"),
        (["--dvc", "nowhere", "data", "d"], "neither a folder nor a URL"),
        (["--git-lfs", repo, "data", "d", "--dvc-remote", "x"], "--dvc-remote goes with"),
    ]:
        result = local.run("import", *arguments)
        assert (result.code, words in result.stderr) == (2, True), (arguments, result)
    assert local.run("import", "--dvc", repo, "data", "d", "--dvc-remote", "stor").code == 3


def test_without_git_that_is_said(local: Stager, project: Project, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for program in ("env",):
        found = shutil.which(program)
        assert found is not None
        os.symlink(found, tmp_path / "bin" / program)
    path = str(tmp_path / "bin")
    result = local.run("import", "--dvc", f"file://{project.folder}", "data", "d", PATH=path)
    assert result.code == 2
    assert "git is not installed" in result.stderr
