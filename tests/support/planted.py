"""Secrets planted where credentials are kept, each with a marker that no encoding changes."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.foreign import FIRST, hub_snapshot

MARK = "Pl4nt3d"


def planted(place: str) -> str:
    """A secret as long and as odd as real ones, which tells where it was planted."""
    return f"{MARK}{place}/+9x=0123456789abcdef"


def plant_files(home: Path) -> None:
    """Whole credentials in the file of every tool."""
    texts = {
        ".aws/credentials": "[default]\naws_access_key_id=idAwsFile\naws_secret_access_key="
        f"{planted('AwsFile')}\naws_session_token={planted('AwsFileToken')}\n",
        ".aws/config": f"[profile x]\naws_secret_access_key={planted('AwsConfig')}\n",
        ".ossutilconfig": f"[default]\naccessKeyID=idOssutil\naccessKeySecret={planted('Ossutil')}"
        f"\nstsToken={planted('OssutilToken')}\n",
        ".aliyun/config.json": json.dumps(
            {
                "current": "a",
                "profiles": [
                    {
                        "name": "a",
                        "mode": "StsToken",
                        "access_key_id": "idAliyun",
                        "access_key_secret": planted("Aliyun"),
                        "sts_token": planted("AliyunToken"),
                    }
                ],
            }
        ),
        ".cos.conf": f"[common]\nsecret_id=idCoscmd\nsecret_key={planted('Coscmd')}\n",
        ".cos.yaml": f"cos:\n  base: {{secretid: idCoscli, secretkey: '{planted('Coscli')}'}}\n",
        ".tccli/default.credential": json.dumps(
            {"secretId": "idTccli", "secretKey": planted("Tccli"), "token": planted("TccliToken")}
        ),
        ".tencentcloud/credentials": f"[default]\nsecret_id=idSdk\nsecret_key={planted('Sdk')}\n",
    }
    for name, text in texts.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def variables(*vendors: str) -> dict[str, str]:
    """Whole credentials in the variables of these vendors."""
    names = {
        "AWS": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
        "OSS": ("OSS_ACCESS_KEY_ID", "OSS_ACCESS_KEY_SECRET", "OSS_SESSION_TOKEN"),
        "ALIBABA": tuple(
            f"ALIBABA_CLOUD_{name}"
            for name in ("ACCESS_KEY_ID", "ACCESS_KEY_SECRET", "SECURITY_TOKEN")
        ),
        "COS": ("COS_SECRET_ID", "COS_SECRET_KEY", "COS_TOKEN"),
        "TENCENT": tuple(f"TENCENTCLOUD_{name}" for name in ("SECRET_ID", "SECRET_KEY", "TOKEN")),
    }
    found = {}
    for vendor in vendors:
        key_id, secret, token = names[vendor]
        found[key_id] = f"id{vendor}"
        found[secret], found[token] = planted(f"{vendor}Env"), planted(f"{vendor}EnvToken")
    return found


def commands(source: Path, elsewhere: Path) -> list[list[str]]:
    """Every verb, in an order in which each can succeed."""
    hub = hub_snapshot(elsewhere / "hub" / "models--org--name", {"README.md": b"# x\n"}, FIRST)
    lines = [
        f"push {source} data -m first",
        f"push {source} data@second --plain",
        "adopt oss://data/adopted other",
        f"import --hf {hub} hub",
        "pull data@v1",
        "log data",
        "ls",
        "show data@v1",
        "diff data@v1 data@second",
        "path data@v1",
        "tag data@v1 best",
        "verify data@v1 --in-remote",
        "du",
        "gc",
        "cache ls",
        "cache prune",
        "rm data@second",
        f"demo {elsewhere / 'demo'}",
        "doctor",
    ]
    return [line.split() for line in lines]
