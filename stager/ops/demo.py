"""demo: the main job on made-up data: push, edit, push again, pull both, verify."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from stager.cache.staging import discard
from stager.config import Config
from stager.errors import UsageError
from stager.events import Listener, ignore
from stager.model.names import Reference
from stager.ops.pull import PullReport, PullRequest, pull
from stager.ops.push import PushReport, PushRequest, push
from stager.ops.verify import VerifyReport, verify
from stager.workspace import Workspace

RECORDS = 40_000
EDITED = 400
NAME = "demo"
MARK = "DEMO"

_VERBS = (
    "explain",
    "translate",
    "summarise",
    "rewrite",
    "compare",
    "list",
    "correct",
    "解释",
    "翻译",
)
_THINGS = (
    "a spot instance",
    "gradient checkpointing",
    "the tokenizer",
    "this paragraph",
    "数据版本",
    "an object store",
    "mixed precision",
    "the learning rate",
    "检查点",
)
_PARTS = (
    "because it is cheaper",
    "so that runs can be compared",
    "in three steps",
    "with an example",
    "without copying a byte",
    "on a fresh node",
    "用于训练之前",
    "before the next epoch",
)


@dataclass(frozen=True, slots=True)
class DemoReport:
    """What each step cost."""

    pushes: tuple[PushReport, ...]
    pulls: tuple[PullReport, ...]
    verified: tuple[VerifyReport, ...]


def demo(config: Config, folder: Path, listener: Listener = ignore) -> DemoReport:
    """Runs in `folder`, which then holds a remote, a cache and the data of two versions."""
    cache = replace(config.cache, path=folder.absolute() / "cache", free_floor=0)
    settings = replace(config, remote=str(folder.absolute() / "remote"), cache=cache)

    def workspace() -> Workspace:
        return Workspace(settings, listener)

    _begin(folder)
    rows = list(_rows(RECORDS))
    pushes = [_push(workspace(), folder, rows, "as it came")]
    for row in rows[:: RECORDS // EDITED]:  # one here, one there: as labels are fixed
        row["output"] += " (label fixed)"
    pushes.append(_push(workspace(), folder, rows, f"{EDITED} labels fixed"))
    references = [Reference(NAME, report.version) for report in pushes]
    pulls = [pull(workspace(), PullRequest(reference)) for reference in references]
    verified = [verify(workspace(), reference) for reference in references]
    return DemoReport(tuple(pushes), tuple(pulls), tuple(verified))


def _begin(folder: Path) -> None:
    """An empty folder of the demo's own; UsageError when it is somebody else's."""
    mark = folder / MARK
    if folder.exists() and any(folder.iterdir()) and not mark.exists():
        raise UsageError(reason=f"{folder}: is not empty and not from an earlier demo")
    discard(folder)
    folder.mkdir(parents=True)
    mark.write_text("made by `stager demo`, which removes this folder when it is run again\n")


def _push(
    workspace: Workspace, folder: Path, rows: list[dict[str, str]], message: str
) -> PushReport:
    source = folder / "data" / "train.jsonl"
    source.parent.mkdir(parents=True, exist_ok=True)
    with open(source, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return push(workspace, PushRequest(source.parent, Reference(NAME), message))


def _rows(count: int) -> Iterator[dict[str, str]]:
    """Instruction rows of about half a kilobyte, the same on every run."""
    dice = random.Random(0)
    for number in range(count):
        said = (f"{dice.choice(_THINGS)} {dice.choice(_PARTS)}" for _ in range(12))
        yield {
            "id": f"{number:06d}",
            "instruction": f"{dice.choice(_VERBS)} {dice.choice(_THINGS)}",
            "output": ", ".join(said),
        }
