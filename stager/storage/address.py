"""Where a bucket answers: from what a console shows to hosts, region and addressing.

    s3://bucket/team       AWS, or any compatible store with `endpoint`
    oss://bucket/team      Aliyun OSS, by `region` or `endpoint`
    cos://bucket-125/team  Tencent COS, by `region` or `endpoint`

The bucket's own domain, as the consoles show it, may stand in the place of the bucket:
oss://bucket.oss-cn-hangzhou.aliyuncs.com/team says bucket, region and network at once.

Rules of the vendors. OSS answers virtual hosts only, its S3 dialect at `s3.oss-<region>`, its
own at `oss-<region>`, `-internal` within the region; `oss-accelerate` serves every region
(Aliyun, "Regions and endpoints", "Compatibility with Amazon S3"). COS answers both dialects
at `cos.<region>.myqcloud.com`, buckets made since 2024 by virtual host only; inside the region
that name leads to the internal network, elsewhere `cos-internal.<region>.tencentcos.cn` does
(Tencent, "Regions and access endpoints"). A host that is none of the vendor's is a domain of
the user's that *is* the bucket, which OSS asks of new accounts on the mainland.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from stager.errors import ConfigError, UsageError
from stager.storage.credentials.redaction import redacted
from stager.storage.options import StorageOptions

AWS, OSS, COS = "aws", "oss", "cos"
SCHEMES = {"s3": AWS, "s3a": AWS, "oss": OSS, "cos": COS, "cosn": COS}
PATH, VIRTUAL, CNAME = "path", "virtual", "cname"

_OSS_HOST = re.compile(
    r"(?:(?P<bucket>(?!s3\.)[a-z0-9-]+)\.)?(?:s3\.)?oss-(?P<region>[a-z0-9-]+?)"
    r"(?P<network>-internal)?\.aliyuncs\.com"
)
_COS_HOST = re.compile(
    r"(?:(?P<bucket>[a-z0-9-]+)\.)?cos(?P<network>-internal)?\.(?P<region>[a-z0-9-]+)"
    r"\.(?:myqcloud\.com|tencentcos\.cn)"
)
_HOSTS = {OSS: _OSS_HOST, COS: _COS_HOST}
_ACCELERATES = ("accelerate", "accelerate-overseas")
_APPID = re.compile(r".+-\d{5,}")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class Address:
    """A bucket, a prefix in it, and how both are asked for."""

    vendor: str
    bucket: str
    prefix: str  # without slashes at its ends
    region: str
    endpoint: str  # URL of the service in the vendor's own dialect; empty for AWS
    base: str  # URL that keys follow in the S3 dialect; empty for AWS
    addressing: str

    @property
    def host_is_bucket(self) -> bool:
        """Whether `base` has the bucket in its host, or is its host."""
        return self.addressing != PATH

    @property
    def s3_endpoint(self) -> str:
        """URL of the service in the S3 dialect, for clients that put the bucket in themselves."""
        return self.base.replace(f"://{self.bucket}.", "://", 1) if self.base else ""


class _Asked(NamedTuple):
    """What URL and settings say before the vendor's rules are applied."""

    vendor: str
    bucket: str
    scheme: str  # http or https
    host: str
    region: str


def locate(url: str, options: StorageOptions) -> Address:
    """The address of an s3://, oss:// or cos:// URL; UsageError or ConfigError when it has none."""
    scheme, _, rest = url.partition("://")
    authority, _, prefix = rest.partition("/")
    refuse_secrets(url)
    vendor = SCHEMES[scheme]
    endpoint, region = options.place(vendor)
    if (named := _HOSTS[vendor].fullmatch(authority) if vendor in _HOSTS else None) is not None:
        bucket, endpoint = named["bucket"] or "", authority.partition(".")[2]
    else:
        bucket = authority
    if not _BUCKET.fullmatch(bucket):
        raise UsageError(reason=f"{url}: no bucket")
    secure, host = _parsed(endpoint)
    vendor = _vendor_of(host) or vendor
    asked = _Asked(vendor, bucket, secure, host, region)
    build = {OSS: _oss, COS: _cos}.get(vendor, _s3)
    return build(asked, prefix.strip("/"), options)


def refuse_secrets(url: str) -> None:
    """UsageError for a URL with keys in it: it would end up in receipts and shell histories.

    A password may hold a slash, so what looks like a port must be one. A user's name alone
    (sftp://user@host) is no secret, but no bucket has one.
    """
    scheme, mark, rest = url.partition("://")
    if not mark:
        return
    authority = rest.partition("/")[0]
    user, at, host = authority.rpartition("@")
    port = host.rpartition("]")[2].rpartition(":")[2] if ":" in host.rpartition("]")[2] else ""
    named = bool(at) and (":" in user or scheme in SCHEMES)
    signed = "?" in rest and redacted(rest) != rest
    if named or signed or (port and not port.isdecimal()):
        reason = f"{scheme}://…: keys do not belong into a URL"
        raise UsageError(reason=reason, hint="set them in the environment; see `stager doctor`")


def _s3(asked: _Asked, prefix: str, options: StorageOptions) -> Address:
    chosen = options.addressing
    region = asked.region or "us-east-1"
    if not asked.host:
        style = PATH if chosen == PATH or "." in asked.bucket else VIRTUAL
        return Address(AWS, asked.bucket, prefix, region, "", "", style)
    style = PATH if chosen == "auto" else chosen
    service = f"{asked.scheme}://{asked.host}"
    base = f"{asked.scheme}://{asked.bucket}.{asked.host}" if style == VIRTUAL else service
    return Address(AWS, asked.bucket, prefix, region, service, base, style)


def _oss(asked: _Asked, prefix: str, options: StorageOptions) -> Address:
    host, region = asked.host, asked.region.removeprefix("oss-")
    if not host:
        where = _required(region, OSS)
        host = {
            "public": f"oss-{where}.aliyuncs.com",
            "internal": f"oss-{where}-internal.aliyuncs.com",
            "accelerate": "oss-accelerate.aliyuncs.com",
        }[options.network]
    known = _OSS_HOST.fullmatch(host)
    if known is None:
        return _custom(asked._replace(region=_required(region, OSS)), prefix, options)
    if known["bucket"]:
        host = host.partition(".")[2]
    host = host.removeprefix("s3.")
    if known["region"] not in _ACCELERATES:
        region = known["region"]
    base = f"{asked.scheme}://{asked.bucket}.s3.{host}"
    region = _required(region, OSS)
    return Address(OSS, asked.bucket, prefix, region, f"{asked.scheme}://{host}", base, VIRTUAL)


def _cos(asked: _Asked, prefix: str, options: StorageOptions) -> Address:
    host, region = asked.host, asked.region
    if not _APPID.fullmatch(asked.bucket):
        reason = f"cos://{asked.bucket}: a COS bucket's name ends in the APPID: name-1250000000"
        raise UsageError(reason=reason)
    if not host:
        where = _required(region, COS)
        host = {
            "public": f"cos.{where}.myqcloud.com",
            "internal": f"cos-internal.{where}.tencentcos.cn",
            "accelerate": "cos.accelerate.myqcloud.com",
        }[options.network]
    known = _COS_HOST.fullmatch(host)
    if known is None:
        return _custom(asked._replace(region=_required(region, COS)), prefix, options)
    if known["bucket"]:
        host = host.partition(".")[2]
    if known["region"] not in _ACCELERATES:
        region = known["region"]
    base = f"{asked.scheme}://{asked.bucket}.{host}"
    region = _required(region, COS)
    return Address(COS, asked.bucket, prefix, region, f"{asked.scheme}://{host}", base, VIRTUAL)


def _custom(asked: _Asked, prefix: str, options: StorageOptions) -> Address:
    """A host that is none of the vendor's: the bucket itself, unless it is said otherwise."""
    style = CNAME if options.addressing == "auto" else options.addressing
    service = f"{asked.scheme}://{asked.host}"
    base = f"{asked.scheme}://{asked.bucket}.{asked.host}" if style == VIRTUAL else service
    return Address(asked.vendor, asked.bucket, prefix, asked.region, service, base, style)


def _parsed(endpoint: str) -> tuple[str, str]:
    """Scheme and host of an endpoint that may be written without a scheme."""
    scheme, mark, host = endpoint.partition("://")
    if not mark:
        scheme, host = "https", endpoint
    host = host.rstrip("/")
    if scheme not in ("http", "https") or "/" in host or "@" in host:
        raise ConfigError(key="endpoint", reason="a host, or a URL of nothing but scheme and host")
    return scheme, host.lower()


def _vendor_of(host: str) -> str:
    """The vendor whose rules hold at a host, whatever the URL's scheme; empty when unknown."""
    return next((vendor for vendor, known in _HOSTS.items() if known.fullmatch(host)), "")


def _required(region: str, vendor: str) -> str:
    if region:
        return region
    example = {OSS: "cn-hangzhou", COS: "ap-guangzhou"}[vendor]
    reason = f'{vendor}:// needs one: region = "{example}" in stager.toml, or STAGER_REGION'
    raise ConfigError(key="region", origin="nowhere", reason=reason)
