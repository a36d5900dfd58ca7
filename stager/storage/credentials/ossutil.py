"""`~/.ossutilconfig`, which both generations of ossutil write.

    [Credentials]                     ossutil 1: accessKeyID, accessKeySecret, stsToken, mode,
    accessKeyID = ...                 ecsRoleName; and [AkService] ecsAk = URL of an ECS role

    [default]                         ossutil 2: [default], [profile NAME]; names of keys in any
    mode = StsToken                   case, with - or _ or neither; mode AK, StsToken,
    access-key-id = ...               RamRoleArn, EcsRamRole or Anonymous

Sources: aliyun/ossutil lib/config_helper.go, and Aliyun's page "Configure ossutil" (2.0).
"""

from __future__ import annotations

from functools import partial

from stager.storage.credentials import aliyun, files
from stager.storage.credentials.sources import (
    Absent,
    Answer,
    Names,
    Source,
    paired,
    required,
    wrong,
)
from stager.storage.credentials.values import CredentialOptions, Credentials
from stager.storage.secret import Secret

KEYS = Names("accessKeyID", "accessKeySecret", ("stsToken",))
KEY_IDS = ("accesskeyid", "accessid")
SECRETS = ("accesskeysecret", "accesskey")
TOKENS = ("ststoken",)
ROLES = ("ecsrolename", "ramrolename")


def source(options: CredentialOptions) -> Source:
    """ossutil's file."""
    return Source("~/.ossutilconfig", partial(_read, options))


def _read(options: CredentialOptions) -> Answer:
    path = options.home / ".ossutilconfig"
    shown = options.shown(path)
    sections = files.ini(path, shown)
    if sections is None:
        return Absent("no such file")
    profile = aliyun.profile_named(options)
    known = {name.strip().lower(): (name, values) for name, values in sections.items()}
    wanted = [f"profile {profile}", profile] if profile else ["profile default", "default"]
    if profile in ("", "default"):
        wanted += ["credentials"]
    found = next((known[name.lower()] for name in wanted if name.lower() in known), None)
    if found is None:
        return _by_service(options, known, shown, profile)
    where = f"{shown} [{found[0]}]"
    values = {name.replace("-", "").replace("_", ""): text for name, text in found[1].items()}
    answer = _of_section(options, values, where)
    if isinstance(answer, Absent) and not profile:
        return _by_service(options, known, shown, profile)
    return answer


def _of_section(options: CredentialOptions, values: dict[str, str], where: str) -> Answer:
    mode = values.get("mode", "").strip().lower()
    if mode in ("", "ak", "ststoken"):
        keys = Credentials(
            files.words(values, *KEY_IDS),
            Secret(files.words(values, *SECRETS)),
            Secret("" if mode == "ak" else files.words(values, *TOKENS)),
            None,
            where,
        )
        return paired(where, KEYS, keys)
    if mode == "ecsramrole":
        return required(where, aliyun.role_asked(options, files.words(values, *ROLES)))
    if mode == "anonymous":
        return Absent(f"{where} says Anonymous; stager's setting is `anonymous = true`")
    hint = "an assumed role is read from ~/.aliyun/config.json: aliyun configure --mode RamRoleArn"
    raise wrong(where, f"mode {values['mode']} is not read from this file", hint)


def _by_service(
    options: CredentialOptions,
    known: dict[str, tuple[str, dict[str, str]]],
    shown: str,
    profile: str,
) -> Answer:
    """ossutil 1's other way: the URL of the metadata of a role."""
    url = known.get("akservice", ("", {}))[1].get("ecsak", "").strip()
    if profile or not url:
        return Absent(f"no profile {profile}" if profile else "no section with keys")
    role = url.rstrip("/").rpartition("/")[2]
    return required(f"{shown} [AkService]", aliyun.role_asked(options, role))
