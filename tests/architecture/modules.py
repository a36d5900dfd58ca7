"""The Python files of the repository, parsed: what the rules of this folder look at."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Module:
    """One file; `path` is relative to the repository."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    @property
    def dotted(self) -> str:
        """The name it is imported by."""
        return ".".join(self.path.with_suffix("").parts).removesuffix(".__init__")

    @cached_property
    def text(self) -> str:
        """Its source."""
        return (ROOT / self.path).read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.text)

    def definitions(self) -> Iterator[Definition]:
        """Every function, method and class, nested ones too."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return (node for node in ast.walk(self.tree) if isinstance(node, kinds))

    def public(self) -> Iterator[Definition]:
        """What others may use: public definitions of the module and of its public classes."""
        pending: list[ast.Module | ast.ClassDef] = [self.tree]
        while pending:
            for node in pending.pop().body:
                if isinstance(node, Definition) and not node.name.startswith("_"):
                    yield node
                    if isinstance(node, ast.ClassDef):
                        pending.append(node)


def modules(*folders: str) -> list[Module]:
    """All modules below these folders of the repository, in order."""
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    return [Module(path.relative_to(ROOT)) for path in sorted(found)]


SOURCE = modules("stager")
EVERYTHING = modules("stager", "tests", "benchmarks", "pipelines")
