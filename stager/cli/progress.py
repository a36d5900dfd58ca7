"""A live progress bar on stderr, for terminals; honours NO_COLOR through rich."""

from __future__ import annotations

import atexit
from collections.abc import Callable

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from stager.cli.wording import sentence_of
from stager.events import Advanced, Began, Event


class ProgressBar:
    """A Listener: one bar for the current phase, other events as lines above it."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._progress: Progress | None = None
        self._task = TaskID(0)
        atexit.register(self.close)

    def close(self) -> None:
        """Takes the bar away and gives the cursor back, whatever happened."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def __call__(self, event: Event) -> None:
        """Shows one event."""
        if isinstance(event, Began):
            self._begin(event)
        elif isinstance(event, Advanced) and self._progress is not None:
            self._progress.advance(self._task, event.amount)
            if self._progress.finished:
                self.close()
        elif text := sentence_of(event):
            if self._progress is not None:
                self._progress.console.print(text, markup=False, highlight=False)
            else:
                self._say(text)

    def _begin(self, phase: Began) -> None:
        self.close()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task(phase.phase, total=phase.total)
        if phase.total:
            self._progress.start()
        else:
            self._progress = None
