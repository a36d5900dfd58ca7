"""`stager rm`, as a user types it, and its races."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stager.catalog import tags
from stager.catalog.tags import TagMovement
from stager.errors import VersionHeld, VersionNotFound
from stager.model import layout
from stager.model.names import parse_reference
from stager.ops import rm as verb
from stager.ops import tag as tag_verb
from stager.ops.rm import RmRequest
from stager.storage.resilient import Wrapper
from stager.storage.store import Data, ObjectInfo
from stager.workspace import Workspace
from tests.integration.test_push import make
from tests.support.command import Stager, contents


@pytest.fixture
def three(stager: Stager, tmp_path: Path) -> Path:
    """`data@v1` to `data@v3`; their source as it is in v3."""
    source = tmp_path / "source"
    for number in (1, 2, 3):
        make(source, {"a.jsonl": b'{"x": %d}\n' % number * 50, "same": b"s" * 9999})
        stager.ok("push", source, "data")
    return source


def versions(stager: Stager) -> list[str]:
    """What log shows, oldest first."""
    return [row["record"]["version"] for row in stager.json("log", "data")][::-1]


def test_a_removed_version_is_gone_and_its_number_is_not_given_again(
    stager: Stager, three: Path
) -> None:
    assert stager.ok("rm", "data@v3").stdout == "removed data@v3\n"
    assert versions(stager) == ["v1", "v2"]
    assert stager.json("show", "data@latest")["version"] == "v2"
    result = stager.run("pull", "data@v3")
    assert result.code == 31
    assert "it was removed on 20" in result.stderr
    assert stager.ok("push", three, "data").stdout == "data@v4\n"
    result = stager.run("push", three, "data@v3")
    assert result.code == 33
    assert "it was removed on 20" in result.stderr
    stager.ok("pull", "data@v4")
    assert contents(stager.path("data@v4")) == contents(three)


def test_several_at_once_or_none(stager: Stager, three: Path) -> None:
    stager.ok("tag", "data@v2", "prod")
    result = stager.run("rm", "data@v1", "data@v8", "data@v9", "data@prod")
    assert result.code == 31
    assert "data@v8, data@v9, data@prod" in result.stderr
    assert "stager tag --delete" in result.stderr
    assert stager.run("rm", "data@v1", "data@v2").code == 34
    assert stager.run("rm", "data@v1", "data", "data@latest").code == 2
    assert versions(stager) == ["v1", "v2", "v3"]
    report = stager.json("rm", "data@v1", "data@v3", "data@v3")
    assert [row["reference"] for row in report["versions"]] == ["data@v1", "data@v3"]
    assert versions(stager) == ["v2"]


def test_a_dry_run_removes_nothing(stager: Stager, three: Path) -> None:
    assert stager.ok("rm", "data@v1", "--dry-run").stdout == "would remove data@v1\n"
    assert stager.json("rm", "data@v1", "-n")["dry_run"] is True
    assert versions(stager) == ["v1", "v2", "v3"]


def test_a_version_that_a_tag_holds_needs_force(stager: Stager, three: Path) -> None:
    stager.ok("tag", "data@v1", "prod")
    stager.ok("tag", "data@v1", "best")
    result = stager.run("rm", "data@v1", "--json")
    assert result.code == 34
    assert result.json()["error"] == "VersionHeld"
    assert "data@v1 (best, prod)" in result.stderr
    assert stager.json("show", "data@prod")["version"] == "v1"
    told = stager.ok("rm", "data@v1", "--force").stdout
    assert told == "removed data@v1, and the tag(s) best, prod\n"
    assert stager.run("show", "data@prod").code == 31
    assert versions(stager) == ["v2", "v3"]


def test_a_tag_that_moved_on_holds_nothing(stager: Stager, three: Path) -> None:
    stager.ok("tag", "data@v1", "prod")
    stager.ok("tag", "data@v2", "prod")
    stager.ok("rm", "data@v1")


def test_again_is_no_error(stager: Stager, three: Path) -> None:
    stager.ok("rm", "data@v1")
    assert stager.ok("rm", "data@v1").stdout == "data@v1 was removed already\n"
    assert stager.json("rm", "data@v1")["versions"][0]["already"] is True


def test_all_versions_may_go(stager: Stager, three: Path) -> None:
    stager.ok("rm", "data@v1", "data@v2", "data@v3")
    result = stager.run("pull", "data")
    assert result.code == 31
    assert "all its versions were removed" in result.stderr
    assert stager.run("log", "data").code == 31
    assert stager.ok("push", three, "data").stdout == "data@v4\n"


def test_an_adopted_version_goes_with_its_companion_and_the_objects_stay(
    local: Stager, tmp_path: Path
) -> None:
    mine = make(tmp_path / "mine", {"a": b"1" * 5000, "b": b"2"})
    local.ok("adopt", mine, "data", "--no-hash")
    local.ok("pull", "data@v1")
    folder = local.remote_folder / "datasets" / "data"
    companion = (folder / "verified" / "v1.json").read_bytes()
    local.ok("rm", "data@v1")
    assert not (folder / "verified" / "v1.json").exists()
    assert (folder / "removed" / "v1.verified").read_bytes() == companion
    assert contents(mine) == {"a": b"1" * 5000, "b": b"2"}


def test_a_broken_record_can_be_removed_by_force(local: Stager, three_local: Path) -> None:
    record = local.remote_folder / layout.version_key("data", "v1")
    record.write_bytes(b'{"format": 9}')
    assert local.run("rm", "data@v1").code == 22
    local.ok("rm", "data@v1", "--force")
    assert versions(local) == ["v2"]


@pytest.mark.parametrize("steps", ["buried", "gone"])
def test_a_removal_that_was_killed_is_completed(
    local: Stager, three_local: Path, steps: str
) -> None:
    folder = local.remote_folder
    record = (folder / layout.version_key("data", "v2")).read_bytes()
    make(folder, {layout.removed_key("data", "v2"): record})
    if steps == "gone":
        (folder / layout.version_key("data", "v2")).unlink()
        make(folder, {layout.verified_key("data", "v2"): record})
    else:
        assert versions(local) == ["v1", "v2"]
        local.ok("pull", "data@v2")
    local.ok("rm", "data@v2")
    assert versions(local) == ["v1"]
    assert not (folder / layout.verified_key("data", "v2")).exists()
    assert (folder / layout.removed_key("data", "v2")).read_bytes() == record


def test_two_at_once_both_say_it_is_gone(stager: Stager, three: Path) -> None:
    running = [stager.start("rm", "data@v1", "data@v2") for _ in range(4)]
    ends = [process.communicate(timeout=60) for process in running]
    assert [process.returncode for process in running] == [0] * 4, ends
    assert versions(stager) == ["v3"]
    assert stager.ok("push", three, "other").stdout == "other@v1\n"


def test_rm_and_tag_at_once_end_with_a_tag_on_a_version_or_neither(
    local: Stager, tmp_path: Path
) -> None:
    source = make(tmp_path / "source", {"a": b"1"})
    for number in range(8):
        name = f"data{number}"
        local.ok("push", source, name)
        running = [
            local.start("rm", f"{name}@v1"),
            local.start("tag", f"{name}@v1", "prod"),
        ]
        ends = [process.communicate(timeout=60) for process in running]
        codes = [process.returncode for process in running]
        assert set(codes) <= {0, 31, 34}, ends
        there = local.run("show", f"{name}@v1").code == 0
        tagged = local.run("show", f"{name}@prod").code == 0
        assert there or not tagged
        assert tags.read(local.workspace().remote, name, "prod") == ("v1" if tagged else None)
        assert (codes[0] == 0) == (not there)


class Meanwhile(Wrapper):
    """Calls `act` once, right before or after the request for which `when` says so."""

    def __init__(self, inner: object, when: str, act: object) -> None:
        super().__init__(inner)  # type: ignore[arg-type]
        self._when = when
        self._act = act

    def create(self, key: str, data: Data) -> str:
        """Before it, and after it."""
        self._now(f"before create {key}")
        etag = self.inner.create(key, data)
        self._now(f"after create {key}")
        return etag

    def delete(self, keys: object) -> None:
        """Before it."""
        batch = list(keys)  # type: ignore[call-overload]
        self._now(f"before delete {batch[0]}")
        self.inner.delete(batch)

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """As it is."""
        return self.inner.list(prefix)

    def _now(self, moment: str) -> None:
        if moment == self._when:
            self._when = ""
            self._act()  # type: ignore[operator]


def meanwhile(stager: Stager, when: str, act: object) -> Workspace:
    """A workspace on whose remote somebody else acts at that moment."""
    workspace = stager.workspace()
    workspace._stores[workspace.remote_url] = Meanwhile(workspace.remote, when, act)
    return workspace


@pytest.fixture
def three_local(local: Stager, tmp_path: Path) -> Path:
    """`data@v1` and `data@v2` in a local folder."""
    source = make(tmp_path / "source", {"a": b"1"})
    local.ok("push", source, "data")
    make(source, {"a": b"2"})
    local.ok("push", source, "data")
    return source


@pytest.mark.parametrize(
    "when",
    [
        f"before create {layout.removed_key('data', 'v1')}",
        f"after create {layout.removed_key('data', 'v1')}",
        f"before delete {layout.version_key('data', 'v1')}",
    ],
)
@pytest.mark.parametrize("force", [False, True])
def test_T50_a_tag_that_comes_while_a_version_goes(
    local: Stager, three_local: Path, when: str, force: bool
) -> None:
    """Held, the version is whole again; by force it is gone and the tag with it."""
    store = local.workspace().remote

    def tag() -> None:
        tags.move(store, "data", "prod", TagMovement("v1", "now", "somebody"))

    request = RmRequest([parse_reference("data@v1")], force)
    workspace = meanwhile(local, when, tag)
    if force:
        assert verb.rm(workspace, request).versions[0].tags == ("prod",)
        assert versions(local) == ["v2"]
        assert tags.read(store, "data", "prod") is None
    else:
        with pytest.raises(VersionHeld, match="prod"):
            verb.rm(workspace, request)
        assert versions(local) == ["v1", "v2"]
        local.ok("pull", "data@prod")


def test_T50_a_version_that_goes_while_a_tag_comes(local: Stager, three_local: Path) -> None:
    local.ok("tag", "data@v2", "prod")

    def remove() -> None:
        local.ok("rm", "data@v1")

    first = f"before create {layout.tag_key('data', 'prod', 2)}"
    with pytest.raises(VersionNotFound, match="removed"):
        tag_verb.tag(meanwhile(local, first, remove), parse_reference("data@v1"), "prod")
    assert local.json("show", "data@prod")["version"] == "v2"


def test_a_killed_rm_whose_version_was_tagged_puts_it_back(
    local: Stager, three_local: Path
) -> None:
    """Killed between the end of the record and the last look at the tags."""
    folder = local.remote_folder
    record = folder / layout.version_key("data", "v1")
    make(folder, {layout.removed_key("data", "v1"): record.read_bytes()})
    local.ok("tag", "data@v1", "prod")
    record.unlink()
    assert local.run("rm", "data@v1", "--dry-run").code == 34
    assert not record.exists()
    assert local.run("rm", "data@v1").code == 34
    local.ok("pull", "data@prod")
    local.ok("rm", "data@v1", "--force")
    assert versions(local) == ["v2"]
