"""The digests that the clouds return with an object."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

import crcmod

# CRC-64 of ECMA-182, reflected, all ones in and out: what OSS and COS call crc64ecma.
# https://help.aliyun.com/zh/oss/developer-reference/check-data-transmission-integrity-using-crc-64
_crc64 = crcmod.mkCrcFun(0x142F0E1EBA9EA3693, initCrc=0, rev=True, xorOut=0xFFFFFFFFFFFFFFFF)


def crc64(data: bytes) -> int:
    """The CRC-64 of the bytes as the clouds compute it, an unsigned number."""
    return int(_crc64(data))


def md5(data: bytes) -> str:
    """The MD5 of the bytes in lower-case hex: the ETag of an object put in one piece."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def md5_base64(data: bytes) -> str:
    """The MD5 of the bytes as Content-MD5 carries it."""
    return base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()


def etag_base64(etag: str) -> str:
    """Content-MD5 of an object put in one piece, from its ETag: without reading it again."""
    return base64.b64encode(bytes.fromhex(etag)).decode()


def of_parts(etags: Sequence[str]) -> str:
    """The ETag of an object put in parts: the MD5 of the parts' MD5s, a dash, their number."""
    joined = b"".join(bytes.fromhex(etag) for etag in etags)
    return f"{md5(joined)}-{len(etags)}"
