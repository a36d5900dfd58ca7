"""The folders and the size of one benchmark run, and the data made for it."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import BenchmarkFailed
from tests.support import corpus

MEGABYTE = 1_000_000
TMPFS = Path("/dev/shm")
READ_BYTES = 1 << 20


@dataclass(frozen=True)
class Workspace:
    """Where a run keeps its data (`disk`) and lets peers write (`fast`), and how big it is."""

    disk: Path
    fast: Path
    scale: float
    peers: frozenset[str] | None

    def scaled(self, amount: int) -> int:
        """`amount` at this run's scale, at least 1."""
        return max(1, round(amount * self.scale))

    def wants(self, peer: str) -> bool:
        """Whether the peer takes part in this run."""
        return self.peers is None or peer in self.peers

    def jsonl(self, size: int) -> Path:
        """A folder with one JSONL file of `size` bytes at this run's scale; made once a run."""
        folder = self.disk / f"jsonl-{size}"
        if not folder.exists():
            folder.mkdir()
            corpus.jsonl(folder / "train.jsonl", self.scaled(size), seed=1)
        return folder

    def small_files(self, count: int) -> Path:
        """A tree of incompressible files of 2 to 20 KB; made once a run."""
        folder = self.disk / f"files-{count}"
        if not folder.exists():
            corpus.small_files(folder, self.scaled(count), 2_000, 20_000, seed=2)
        return folder

    @contextlib.contextmanager
    def fresh(self, name: str) -> Iterator[Path]:
        """A new folder on the fast disk, gone with all it holds at the end of the block."""
        folder = self.fast / name
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


@contextlib.contextmanager
def workspace(scale: float, peers: frozenset[str] | None) -> Iterator[Workspace]:
    """Private folders on disk and, where there is one, on tmpfs; removed at the end."""
    fast_root = TMPFS if TMPFS.is_dir() else None
    with (
        tempfile.TemporaryDirectory(prefix="stager-bench-") as disk,
        tempfile.TemporaryDirectory(prefix="stager-bench-", dir=fast_root) as fast,
    ):
        yield Workspace(Path(disk), Path(fast), scale, peers)


def require_same_tree(expected: Path, actual: Path) -> None:
    """Raise BenchmarkFailed unless both folders hold the same files with the same bytes."""
    wanted, found = _files(expected), _files(actual)
    if wanted != found:
        differing = sorted(wanted ^ found)[:5]
        raise BenchmarkFailed(f"{len(wanted)} files wanted, {len(found)} found: {differing}")
    for name in wanted:
        if not _same_bytes(expected / name, actual / name):
            raise BenchmarkFailed(f"{name} has other bytes than its source")


def _files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def _same_bytes(one: Path, other: Path) -> bool:
    if one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as left, other.open("rb") as right:
        while block := left.read(READ_BYTES):
            if block != right.read(READ_BYTES):
                return False
    return True
