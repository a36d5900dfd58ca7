"""Words of stores and libraries, made fit to be shown.

A refusal may quote what was sent: signatures, tokens, the text that was signed. They are
replaced by `***`, by the names they stand under (S3's, OSS's, COS's, and those of token
services), and by their value where it is one that this process signs with.
"""

from __future__ import annotations

import re
from functools import cache
from urllib.parse import quote

HIDDEN = "***"
LONGEST = 20_000  # characters that are looked at; the rest is cut
SHORTEST = 8  # a shorter value would be found in ordinary words
MOST_KNOWN = 256

# XML elements whose whole content is secret, or helps to guess what is.
_ELEMENTS = (
    r"(?:AWS|OSS|Google)?AccessKey(?:Id|ID|Secret)?|AccessId|SecretAccessKey|SecretKey|SecretId"
    r"|TmpSecret(?:Id|Key)|StringToSign(?:Bytes)?|CanonicalRequest(?:Bytes)?|FormatString"
    r"|SignatureProvided|Signature|Authorization|Credential|[A-Za-z-]{0,40}Token(?:-\d+)?"
)
# Names before = or : in queries, headers, JSON and ini files, in any case. Lengths are bounded
# everywhere, so that a hostile answer costs no more than a long one.
_NAMES = (
    r"[\w-]{0,40}signature|[\w-]{0,40}credential|[\w-]{0,40}token|[\w-]{0,40}secret[\w-]{0,40}"
    r"|q-ak|(?:aws|oss|google)?access[_-]?(?:key|id)[\w-]{0,40}|passw(?:or)?d|sig|sign"
)
_RULES = (
    (rf"(?is)<({_ELEMENTS})(\s[^<>]*)?>.*?(?:</\1\s*>|$)", r"<\1>***</\1>"),
    # A header with a scheme: everything to the end of the line, the quote or the tag.
    (r"""(?i)\b((?:proxy-)?authorization)(["']?\s*[:=]\s*["']?)[^"'<>\r\n]+""", r"\1\2***"),
    (r"(?i)\b(?:AWS4|OSS4|TC3)-HMAC-SHA(?:256|1)\b[^\"'<>\r\n]*", HIDDEN),
    (r"(?i)\b(OSS|AWS|Bearer|Basic) [^\s\"'<>]{12,}", r"\1 ***"),
    (r"q-sign-algorithm=[^\"'<>\s]*", HIDDEN),
    (rf"""(?i)(?<![\w-])({_NAMES})(["']?\s*(?:=|%3D)\s*["']?)[^&\s"'<>,;}}\])]+""", r"\1\2***"),
    # Behind a colon a word may be prose ("ExpiredToken: the ..."), a key is longer.
    (rf"""(?i)(?<![\w-])({_NAMES})(["']?\s*:\s*["']?)[^&\s"'<>,;}}\])]{{12,}}""", r"\1\2***"),
    (r"(?i)\b([a-z][a-z0-9+.-]{0,20}://)[^/\s@\"'<>]{1,2000}@", r"\1***@"),
    (r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*", HIDDEN),  # a JSON web token
)
_known: dict[str, None] = {}


def remember(value: str) -> None:
    """A value that `redacted` is to hide wherever it stands; the latest 256 are kept."""
    if len(value) < SHORTEST:
        return
    for form in (value, quote(value, safe=""), quote(value)):
        _known.pop(form, None)
        _known[form] = None
    while len(_known) > MOST_KNOWN:
        del _known[next(iter(_known))]


def redacted(text: str) -> str:
    """The text without signatures, tokens and keys; what is left says what went wrong."""
    text = text[:LONGEST]
    for value in list(_known):
        text = text.replace(value, HIDDEN)
    for pattern, shown in _patterns():
        text = pattern.sub(shown, text)
    return text


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """The rules, compiled when the first text comes: most runs have none."""
    return [(re.compile(pattern), shown) for pattern, shown in _RULES]
