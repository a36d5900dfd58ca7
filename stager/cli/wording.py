"""Events in words."""

from __future__ import annotations

from stager.events import Event, Noted, Retried, Waiting, Warned


def sentence_of(event: Event) -> str:
    """An event in words; most events have none."""
    match event:
        case Warned(text):
            return f"warning: {text}"
        case Noted(text):
            return text
        case Waiting(what, holder):
            return f"waiting for {holder} ({what})"
        case Retried(kind, key, attempt, delay, reason):
            return f"{kind} {key}: {reason}; try {attempt + 1} in {delay:.1f} s"
    return ""


def printable(text: str) -> str:
    """Text from a file or a bucket as it may go to a terminal: control characters escaped.

    Also those that turn the direction of writing, and lone surrogates of names that are no
    UTF-8.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
