"""foreign/dvc_config.py: caches and remotes as `dvc remote add` writes them."""

from __future__ import annotations

import pytest

from stager.errors import ConfigError
from stager.foreign.dvc_config import parse

CONFIG = b"""\
[core]
    remote = store
    autostage = true
['remote "store"']
    url = s3://bucket/dvc/
      endpointurl = http://127.0.0.1:8333
# a remark
['remote "near"']
    url = ../../near
['remote "below"']
    url = remote://store/sub
    region = eu
[remote "odd,name"]
    url = "s3://bucket/a,b"
['remote "plain"']
    url = gs://bucket
    version_aware = true
"""


def test_the_default_remote_with_its_options() -> None:
    remote = parse("/r/.dvc", CONFIG).remote()
    assert remote is not None
    assert (remote.name, remote.url, remote.is_folder) == ("store", "s3://bucket/dvc", False)
    assert remote.options["endpointurl"] == "http://127.0.0.1:8333"
    assert remote.is_by_digest


def test_remotes_by_name() -> None:
    settings = parse("/r/.dvc", CONFIG)
    found = {name: settings.remote(name) for name in ("near", "below", "odd,name", "plain")}
    urls = {name: remote.url for name, remote in found.items() if remote}
    assert urls == {
        "near": "/near",
        "below": "s3://bucket/dvc/sub",
        "odd,name": "s3://bucket/a,b",
        "plain": "gs://bucket",
    }
    assert [name for name, remote in found.items() if remote and remote.is_folder] == ["near"]
    assert [name for name, remote in found.items() if remote and not remote.is_by_digest] == [
        "plain"
    ]
    below = found["below"]
    assert below is not None and below.options["endpointurl"] and below.options["region"] == "eu"


def test_the_local_file_wins_key_by_key() -> None:
    local = (
        b"['remote \"store\"']\n    access_key_id = me\n    url = s3://other\n[cache]\ndir = ../c\n"
    )
    settings = parse("/r/.dvc", CONFIG, local)
    remote = settings.remote()
    assert remote is not None
    assert (remote.url, remote.options["access_key_id"]) == ("s3://other", "me")
    assert remote.options["endpointurl"] == "http://127.0.0.1:8333"
    assert settings.cache == "/r/c"


def test_paths_are_relative_to_the_folder_of_the_file() -> None:
    assert parse("/r/.dvc", b"").cache == "/r/.dvc/cache"
    assert parse("/r/.dvc", b"[cache]\ndir = /shared/cache\n").cache == "/shared/cache"
    local = parse("/r/.dvc", b"[core]\nremote=x\n['remote \"x\"']\nurl = file:///data/x\n").remote()
    assert local is not None and (local.url, local.is_folder) == ("/data/x", True)


def test_no_remote_and_one_that_is_none() -> None:
    assert parse("/r/.dvc", None, None).remote() is None
    with pytest.raises(ConfigError, match="did you mean store"):
        parse("/r/.dvc", CONFIG).remote("stor")
    with pytest.raises(ConfigError, match="'gone'"):
        parse("/r/.dvc", b"[core]\nremote = gone\n").remote()


def test_what_is_no_configuration_is_said() -> None:
    with pytest.raises(ConfigError, match=r"\.dvc/config"):
        parse("/r/.dvc", b"key = 1\n")


def test_a_percent_sign_is_one() -> None:
    remote = parse("/r/.dvc", b"['remote \"x\"']\nurl = s3://b/100%s\n").remote("x")
    assert remote is not None and remote.url == "s3://b/100%s"
