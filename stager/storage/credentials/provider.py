"""Credentials that stay fresh: found once, renewed before they end, shared by threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from stager.errors import AccessDenied, StagerError
from stager.storage.credentials.redaction import remember
from stager.storage.credentials.sources import Absent, Ask, Source, settled, shortened, wrong
from stager.storage.credentials.values import Credentials

EARLY = 300.0  # seconds before the end at which new ones are fetched
LATEST_RETRY = 30.0

USED, THERE, ABSENT, WRONG, NOT_ASKED = "used", "there too", "absent", "wrong", "not asked"
_CLOCK = "log in again, or set this machine's clock if that is wrong"


class Attempt(NamedTuple):
    """One source, how it fared (used, there too, absent, wrong, not asked), and why."""

    source: str
    state: str
    detail: str


class _Round(NamedTuple):
    """What the latest search left: its number, and the failure if it was one."""

    number: int = 0
    failure: StagerError | None = None
    again: float = 0.0  # not before this moment, as long as the old ones hold


class Provider:
    """Credentials of one vendor, found once and renewed before they end; safe in threads.

    One thread looks at a time. Others go on with what they have while it is valid, and
    otherwise wait and share the outcome, so that a metadata server sees one question.
    """

    def __init__(
        self,
        vendor: str,
        places: list[Source],
        hint: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.vendor = vendor
        self._hint = hint
        self._places = places
        self._clock = clock
        self._lock = threading.Lock()
        self._held: Credentials | None = None
        self._since = 0.0
        self._round = _Round()

    @property
    def failure(self) -> str:
        """Why the latest renewal failed, while older credentials are still valid."""
        return str(self._round.failure or "")

    def current(self) -> Credentials:
        """Valid credentials; AccessDenied when there are none, or they ended unrenewed.

        New ones are fetched when less than five minutes remain, or a quarter of their life.
        """
        held, seen = self._held, self._round.number
        if held is not None and not self._is_due(held):
            return held
        valid = held is not None and not self._is_over(held)
        if not self._lock.acquire(blocking=not valid):
            return self._usable()
        try:
            if self._round.number == seen:
                self._look()
            return self._usable()
        finally:
            self._lock.release()

    def renew(self, than: Credentials) -> bool:
        """Looks again, whatever the expiry says; whether there are others than those now.

        Called after a store refused them as expired or unknown. Files are read anew.
        """
        seen = self._round.number
        with self._lock:
            if self._held is not None and not self._held.same_keys(than):
                return True
            if self._round.number == seen:
                self._look()
            return self._held is not None and not self._held.same_keys(than)

    def explain(self, ask: bool = True) -> list[Attempt]:
        """Every source in order with what it has, without any secret.

        Servers are asked only until credentials are found, and not at all without `ask`.
        """
        told: list[Attempt] = []
        open_question = True
        for place in self._places:
            attempt = self._tried(place, open_question, ask)
            open_question = open_question and attempt.state not in (USED, WRONG)
            told.append(attempt)
        return told

    def _tried(self, place: Source, open_question: bool, ask: bool) -> Attempt:
        try:
            answer = place.find()
            if isinstance(answer, Ask) and not (ask and open_question):
                reason = "offline" if open_question else "an earlier source is used"
                return Attempt(answer.name, NOT_ASKED, reason)
            found = settled(answer)
        except StagerError as problem:
            reason = str(problem.fields.get("reason") or problem)
            return Attempt(place.name, WRONG, reason)
        if isinstance(found, Absent):
            return Attempt(place.name, ABSENT, found.reason)
        _remember(found)
        state = USED if open_question else THERE
        return Attempt(found.source, state, self._described(found))

    def _described(self, found: Credentials) -> str:
        text = f"key id {shortened(found.access_key_id)}"
        if found.session_token:
            text += ", with a token"
        if found.expires is not None:
            left = round((found.expires - self._clock()) / 60)
            text += f", ends in {left} min" if left > 0 else ", ended"
        return text

    def _is_due(self, held: Credentials) -> bool:
        if held.expires is None:
            return False
        now = self._clock()
        early = min(EARLY, (held.expires - self._since) / 4)
        return now >= held.expires - early and (now >= self._round.again or self._is_over(held))

    def _is_over(self, held: Credentials) -> bool:
        return held.expires is not None and held.expires <= self._clock()

    def _usable(self) -> Credentials:
        """What is held, if it is valid; else the failure that left it so."""
        held, failure = self._held, self._round.failure
        if held is not None and not self._is_over(held):
            return held
        if failure is not None:
            kind, hint, fields = type(failure), failure.hint, dict(failure.fields)
            if held is not None:
                fields["reason"] = f"those from {held.source} have ended; {fields.get('reason')}"
            raise kind(hint=hint, **fields)
        assert held is not None
        raise wrong(held.source, "they have ended, and no newer ones are there", _CLOCK)

    def _look(self) -> None:
        """One search through the sources; what is held stays when it fails."""
        now, number = self._clock(), self._round.number + 1
        try:
            found = self._search()
        except StagerError as problem:
            left = (self._held.expires or now) - now if self._held else 0.0
            again = now + min(LATEST_RETRY, max(0.0, left / 4))
            self._round = _Round(number, problem.with_traceback(None), again)
            return
        _remember(found)
        self._held, self._since = found, now
        self._round = _Round(number)

    def _search(self) -> Credentials:
        for place in self._places:
            found = settled(place.find())
            if isinstance(found, Absent):
                continue
            if self._is_over(found):
                raise wrong(found.source, "they have ended", _CLOCK)
            return found
        where = f"credentials for {self.vendor}"
        raise AccessDenied(url=where, reason="none found", hint=self._hint)


def _remember(found: Credentials) -> None:
    remember(found.secret_access_key.reveal())
    remember(found.session_token.reveal())
