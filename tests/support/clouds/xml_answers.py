"""XML as the clouds write it, and as they read it."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from tests.support.clouds.refusals import Refused

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def element(name: str, *content: str | tuple[str, object]) -> str:
    """An element; pairs become elements of plain text, strings are XML already."""
    inner = "".join(
        part if isinstance(part, str) else f"<{part[0]}>{escape(str(part[1]))}</{part[0]}>"
        for part in content
    )
    return f"<{name}>{inner}</{name}>"


def document(name: str, *content: str | tuple[str, object]) -> bytes:
    """A whole answer."""
    return (HEAD + element(name, *content)).encode("utf-8", "surrogateescape")


def parsed(body: bytes) -> ElementTree.Element:
    """The root of a request's body, without namespaces; Refused when it is not XML."""
    try:
        root = ElementTree.fromstring(body)
    except ElementTree.ParseError:
        raise Refused(400, "MalformedXML", "The XML you provided was not well-formed.") from None
    for each in root.iter():
        each.tag = each.tag.rpartition("}")[2]
    return root


def texts(root: ElementTree.Element, *path: str) -> Iterable[str]:
    """The texts at a path below the root."""
    return (each.text or "" for each in root.findall("/".join(path)))
