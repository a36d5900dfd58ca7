"""When to kill: random moments of a run, sooner after each that came when it was over.

A run is timed once, perhaps on a busier machine than the runs that are killed. So the length
that the moments are drawn from shrinks until they fall into the run.
"""

from __future__ import annotations

import random

SOONER = 0.85


class Moments:
    """Seconds to wait before a kill: a share of `whole` between `earliest` and 1."""

    def __init__(self, seed: int, whole: float, earliest: float) -> None:
        self._dice = random.Random(seed)
        self._whole = whole
        self._earliest = earliest
        self.interrupted = 0

    def next(self) -> float:
        """The next moment."""
        return self._dice.uniform(self._earliest, 1.0) * self._whole

    def hit(self, was_running: bool) -> None:
        """Whether the kill came while there was something to kill."""
        self.interrupted += was_running
        if not was_running:
            self._whole *= SOONER

    def require(self, least: int) -> None:
        """A test whose kills all came too late has shown nothing."""
        assert self.interrupted >= least, "the kills came too late to show anything"
