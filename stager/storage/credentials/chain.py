"""The sources of each vendor in their order.

What is more explicit comes first: given keys, then environment, then a pod's identity, files,
and the instance's role. The AWS_* variables, which people use with the S3 endpoints of OSS and
COS, come after everything of the vendor's own but an instance role that nobody named: whoever
has keys in the environment does not wait for a metadata server.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from stager.storage.credentials.provider import Attempt, Provider
from stager.storage.credentials.sources import Answer, Source, explicit, variables, wrong
from stager.storage.credentials.values import CredentialOptions

__all__ = ["VENDORS", "Attempt", "Provider", "provider", "sources"]

VENDORS = ("aws", "oss", "cos")

_HINTS = {
    "aws": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run `aws configure`, "
    "or give the instance a role; `stager doctor` tells where was looked",
    "oss": "set OSS_ACCESS_KEY_ID and OSS_ACCESS_KEY_SECRET, or run `ossutil config`, "
    "or give the ECS instance a RAM role; `stager doctor` tells where was looked",
    "cos": "set COS_SECRET_ID and COS_SECRET_KEY, or run `coscmd config`, "
    "or give the CVM instance a CAM role; `stager doctor` tells where was looked",
}


def provider(
    vendor: str, options: CredentialOptions, clock: Callable[[], float] = time.time
) -> Provider:
    """Who signs for a vendor: one of VENDORS. Looks nowhere until it is asked."""
    return Provider(vendor, sources(vendor, options), _HINTS[vendor], clock)


def sources(vendor: str, options: CredentialOptions) -> list[Source]:
    """Every place to look for a vendor's credentials, the more explicit first."""
    from stager.storage.credentials import aws

    given = explicit(options)
    of_aws = variables(options, aws.ENVIRONMENT)
    if vendor == "aws":
        web, files, *roles = aws.sources(options)
        guard = _named_profile(aws.profile_named(options), ["~/.aws"])
        return [given, of_aws, web, files, *guard, *roles]
    if vendor == "oss":
        return [given, *_of_oss(options, of_aws)]
    if vendor == "cos":
        return [given, *_of_cos(options, of_aws)]
    raise ValueError(f"{vendor} is none of {VENDORS}")


def _of_oss(options: CredentialOptions, of_aws: Source) -> list[Source]:
    from stager.storage.credentials import aliyun, ossutil

    kept = [ossutil.source(options), aliyun.command_line(options)]
    last = [of_aws, aliyun.ecs_role(options)]
    if options.environ.get("ALIBABA_CLOUD_ECS_METADATA"):
        last.reverse()
    return [
        variables(options, aliyun.OSS_ENVIRONMENT),
        variables(options, aliyun.ENVIRONMENT),
        aliyun.oidc(options),
        *kept,
        *_named_profile(aliyun.profile_named(options), [source.name for source in kept]),
        aliyun.uri(options),
        *last,
    ]


def _of_cos(options: CredentialOptions, of_aws: Source) -> list[Source]:
    from stager.storage.credentials import tencent

    kept = tencent.command_lines(options)
    return [
        variables(options, tencent.COS_ENVIRONMENT),
        variables(options, tencent.ENVIRONMENT),
        tencent.tke(options),
        *kept,
        *_named_profile(options.profile, [source.name for source in kept]),
        of_aws,
        tencent.cam_role(options),
    ]


def _named_profile(profile: str, places: list[str]) -> list[Source]:
    """Stops the search behind the files: who names a profile wants no other's keys."""

    def find() -> Answer:
        raise wrong(f"profile {profile}", f"not found in {', '.join(places)}")

    return [Source(f"profile {profile}", find)] if profile else []
