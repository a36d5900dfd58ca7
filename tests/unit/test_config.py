"""config.py: defaults < stager.toml < environment < flags, each with its origin."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stager import config
from stager.errors import ConfigError
from stager.transfer.options import TransferOptions


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment whose config and cache homes are empty."""
    return {
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CACHE_HOME": str(tmp_path / "caches"),
        "USER": "somebody",
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where stager.toml is written, above a folder to start from."""
    (tmp_path / "project" / "sub").mkdir(parents=True)
    return tmp_path / "project"


def loaded(
    folder: Path, environ: dict[str, str], text: str = "", flags: dict[str, Any] | None = None
) -> config.Config:
    """The settings found from `folder`/sub, with this text in `folder`/stager.toml."""
    (folder / "stager.toml").write_text(text, encoding="utf-8")
    return config.load(flags, environ, folder / "sub")


def test_without_anything_there_are_defaults(folder: Path, home: dict[str, str]) -> None:
    found = config.load({}, home, folder)
    assert found.remote is None
    assert found.author == "somebody"
    assert found.transfer == TransferOptions()
    assert found.cache.path == Path(home["XDG_CACHE_HOME"]) / "stager"
    assert dict(found.origins) == {}
    with pytest.raises(ConfigError, match="stager init"):
        found.required_remote()


def test_a_flag_wins_over_the_environment_over_the_file(folder: Path, home: dict[str, str]) -> None:
    text = 'remote = "s3://file"\nregion = "file"\nconnections = 3\nauthor = "file"\n'
    environ = home | {"STAGER_REMOTE": "s3://env", "STAGER_REGION": "env", "AWS_REGION": "aws"}
    found = loaded(folder, environ, text, {"remote": "s3://flag", "cache": None})
    assert found.required_remote() == "s3://flag"
    assert found.storage.region == "env"
    assert found.transfer.connections == 3
    assert found.author == "file"
    assert dict(found.origins) == {
        "remote": "--remote",
        "region": "STAGER_REGION",
        "connections": str(folder / "stager.toml"),
        "author": str(folder / "stager.toml"),
    }


def test_what_aws_tools_read_is_read_where_nothing_else_is_said(
    folder: Path, home: dict[str, str]
) -> None:
    environ = home | {
        "AWS_ENDPOINT_URL": "http://general",
        "AWS_ENDPOINT_URL_S3": "http://s3",
        "AWS_DEFAULT_REGION": "default",
        "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": "s3cr3t-value",
        "AWS_SESSION_TOKEN": "t0k3n-value",
    }
    storage = loaded(folder, environ).storage
    assert storage.place("aws") == ("http://s3", "default")
    assert storage.place("oss") == ("", "")
    assert storage.credentials.environ["AWS_SECRET_ACCESS_KEY"] == "s3cr3t-value"
    assert "HOME" not in storage.credentials.environ
    said = loaded(folder, environ, 'endpoint = "http://file"').storage
    assert said.place("aws") == ("http://file", "default")


@pytest.mark.parametrize(
    ("vendor", "environ"),
    [
        ("oss", {"OSS_ENDPOINT": "oss-cn-x.aliyuncs.com", "OSS_REGION": "cn-x"}),
        ("cos", {"COS_ENDPOINT": "oss-cn-x.aliyuncs.com", "TENCENTCLOUD_REGION": "cn-x"}),
    ],
)
def test_what_a_vendor_s_tools_read_holds_for_that_vendor(
    folder: Path, home: dict[str, str], vendor: str, environ: dict[str, str]
) -> None:
    storage = loaded(folder, home | environ).storage
    assert storage.place(vendor) == ("oss-cn-x.aliyuncs.com", "cn-x")
    assert storage.place("aws") == ("", "")


def test_no_secret_is_shown(folder: Path, home: dict[str, str]) -> None:
    environ = home | {"AWS_SECRET_ACCESS_KEY": "s3cr3t-value", "AWS_SESSION_TOKEN": "t0k3n-value"}
    found = loaded(folder, environ)
    assert "s3cr3t-value" not in repr(found)
    assert "t0k3n-value" not in repr(found)


def test_paths_in_the_file_are_relative_to_the_file(folder: Path, home: dict[str, str]) -> None:
    found = loaded(folder, home, 'remote = "remote"\ncache = "../cache"\n')
    assert found.remote == str(folder / "remote")
    assert found.cache.path == folder / ".." / "cache"
    assert loaded(folder, home, 'remote = "s3://b/c"').remote == "s3://b/c"
    assert loaded(folder, home, 'remote = "/data/r"').remote == "/data/r"
    tilde = loaded(folder, home, 'cache = "~/cache"').cache.path
    assert tilde == Path("~/cache").expanduser()


def test_the_nearest_file_is_read_and_then_the_users_own(
    folder: Path, home: dict[str, str]
) -> None:
    own = config.config_home(home)
    own.mkdir(parents=True)
    (own / "stager.toml").write_text('remote = "s3://own"')
    assert config.load({}, home, folder / "sub").remote == "s3://own"
    assert loaded(folder, home, 'remote = "s3://project"').remote == "s3://project"
    (folder / "sub" / "stager.toml").write_text('remote = "s3://sub"')
    assert config.load({}, home, folder / "sub").remote == "s3://sub"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("connections = 0", "connections"),
        ("connections = 'many'", "connections"),
        ("connections = [1]", "connections"),
        ("connections = 2.5", "connections"),
        ("remote = 7", "remote"),
        ("author = ['a']", "author"),
        ("transport = 'pigeon'", "transport"),
        ("stall_seconds = -1", "stall_seconds"),
        ("stall_seconds = nan", "stall_seconds"),
        ("free_floor = -1", "free_floor"),
        ("free_floor = '5 apples'", "free_floor"),
        ("budget = '500G'", "budget"),
        ("budget = 1.5", "budget"),
        ("budget = [1]", "budget"),
        ("remot = 's3://b'", "remot"),
        ("[remote]\nurl = 's3://b'", "remote"),
        ("not toml", "the file"),
        ("remote = '\ud800'", "the file"),
    ],
)
def test_a_bad_setting_is_named_with_where_it_stands(
    folder: Path, home: dict[str, str], text: str, key: str
) -> None:
    (folder / "stager.toml").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(ConfigError) as caught:
        config.load({}, home, folder)
    assert caught.value.fields["key"] == key
    assert str(folder / "stager.toml") in str(caught.value)


def test_a_misspelt_setting_is_told_what_was_meant(folder: Path, home: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="did you mean 'connections'"):
        loaded(folder, home, "conections = 3")


@pytest.mark.parametrize("value", ["many", "0", "1e3", "-1", "2.5"])
def test_a_bad_variable_is_named(folder: Path, home: dict[str, str], value: str) -> None:
    with pytest.raises(ConfigError, match="STAGER_CONNECTIONS"):
        loaded(folder, home | {"STAGER_CONNECTIONS": value})


@pytest.mark.parametrize(
    ("written", "wanted"),
    [("true", True), ("false", False), ("1", True), ("0", False), ('"False"', False)],
)
def test_a_switch_is_on_or_off(
    folder: Path, home: dict[str, str], written: str, wanted: bool
) -> None:
    assert loaded(folder, home).record_index is True
    found = loaded(folder, home, f"record_index = {written}")
    assert found.record_index is wanted
    assert dict(found.origins) == {"record_index": str(folder / "stager.toml")}
    variable = home | {"STAGER_RECORD_INDEX": written.strip('"')}
    assert loaded(folder, variable, "record_index = true").record_index is wanted
    assert loaded(folder, home, flags={"record_index": wanted}).record_index is wanted


@pytest.mark.parametrize("value", ["yes", "2", "on", " ", "None", "[]", "1.0"])
def test_a_switch_that_is_neither_is_named(folder: Path, home: dict[str, str], value: str) -> None:
    with pytest.raises(ConfigError, match=r"STAGER_RECORD_INDEX.*true or false"):
        loaded(folder, home | {"STAGER_RECORD_INDEX": value})
    with pytest.raises(ConfigError, match=r"record_index.*true or false"):
        loaded(folder, home, f'record_index = "{value}"')


def test_a_bad_flag_is_named(folder: Path, home: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="--stall-seconds"):
        loaded(folder, home, flags={"stall_seconds": "soon"})


@pytest.mark.parametrize(
    ("text", "size"),
    [("'500GB'", 500 * 10**9), ("'1.5TiB'", 3 * 2**39), ("'1000'", 1000), ("1000", 1000)],
)
@pytest.mark.parametrize("key", config.SIZES)
def test_a_size_may_have_a_unit(
    folder: Path, home: dict[str, str], key: str, text: str, size: int
) -> None:
    assert getattr(loaded(folder, home, f"{key} = {text}").cache, key) == size
    environ = home | {f"STAGER_{key.upper()}": text.strip("'")}
    assert getattr(loaded(folder, environ).cache, key) == size


@pytest.mark.parametrize("value", ["many", "-1", "500G", "1e9"])
def test_a_bad_size_is_named_with_where_it_stands(
    folder: Path, home: dict[str, str], value: str
) -> None:
    with pytest.raises(ConfigError, match=r"budget \(STAGER_BUDGET\)"):
        loaded(folder, home | {"STAGER_BUDGET": value})


def test_an_empty_variable_says_nothing(folder: Path, home: dict[str, str]) -> None:
    environ = home | {"STAGER_REMOTE": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "r"}
    found = loaded(folder, environ, 'remote = "s3://file"')
    assert (found.remote, found.storage.place("aws")) == ("s3://file", ("", "r"))


def test_every_setting_is_named_in_the_docstring() -> None:
    for key in config.KEYS:
        assert key in (config.__doc__ or "")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become a user without a name")
def test_a_user_without_a_name_has_settings_too(tmp_path: Path) -> None:
    """Containers run as numbers that no passwd file knows."""
    code = """
import os
from stager import config
os.setuid(54321)
print(config.load({}, {"HOME": "/"}, __import__("pathlib").Path("/")).author)
"""
    clean = {"PATH": os.environ["PATH"], "HOME": "/"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=clean, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_a_profile_and_a_home_reach_those_who_look_for_credentials(
    folder: Path, home: dict[str, str]
) -> None:
    found = loaded(folder, home | {"HOME": str(folder)}, 'profile = "work"')
    assert found.storage.credentials.profile == "work"
    assert found.storage.credentials.home == folder
    assert found.origins["profile"] == str(folder / "stager.toml")
    named = loaded(folder, home | {"STAGER_PROFILE": "other"}, 'profile = "work"')
    assert named.storage.credentials.profile == "other"


def test_who_has_no_home_has_settings_all_the_same(
    folder: Path, home: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    assert loaded(folder, home).storage.credentials.home == Path("/")
    assert config.config_home({}) == Path("/.config/stager")


@pytest.mark.parametrize("key", config.KEYS)
def test_every_setting_has_a_value_to_show(folder: Path, home: dict[str, str], key: str) -> None:
    found = loaded(folder, home, 'remote = "s3://b"\ncache = "/c"\nprofile = "p"')
    given = {"remote": "s3://b", "cache": "/c", "profile": "p"}
    assert found.value(key) == given.get(key, found.value(key))
