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
