"""What the documents say is what the code does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from stager.cli.app import VERBS
from stager.errors import Cancelled, tree
from tests.support import corpus
from tests.support.command import Stager, contents

ROOT = Path(__file__).parents[2]


def test_the_readme_lists_every_exit_code() -> None:
    rows = re.findall(r"^\| (\d+) \| (\w+) \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    documented = {(int(code), name) for code, name in rows}
    classes = {(kind.exit_code, kind.__name__) for kind in tree()}
    assert documented == classes | {(Cancelled.exit_code, "Cancelled")}


def test_the_readme_names_every_verb() -> None:
    text = (ROOT / "README.md").read_text()
    assert [
        verb for verb in VERBS if f"`stager {verb}" not in text and f"`{verb}" not in text
    ] == []


def test_the_reader_in_the_format_document_reads(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "format.md").read_text()
    reader = tmp_path / "reader.py"
    reader.write_text(text.rpartition("```python\n")[2].rpartition("```")[0])
    assert len(reader.read_text().splitlines()) <= 50
    source = tmp_path / "source"
    source.mkdir()
    corpus.jsonl(source / "train.jsonl", 4_000_000, seed=1)
    corpus.small_files(source / "images", 30, 2000, 20_000, seed=2)
    (source / "empty").touch()
    stager = Stager(str(tmp_path / "remote"), tmp_path / "cache")
    stager.ok("push", source, "packed")
    stager.ok("push", source, "plain", "--plain")
    stager.ok("adopt", source, "adopted")
    for name in ("packed", "plain", "adopted"):
        out = tmp_path / name
        arguments = [stager.remote, name, "v1", str(out)]
        subprocess.run([sys.executable, str(reader), *arguments], check=True, timeout=60)
        assert contents(out) == contents(source)


def test_zstd_of_the_packs_of_a_jsonl_version_prints_its_lines(tmp_path: Path) -> None:
    import zstandard

    source = tmp_path / "train.jsonl"
    corpus.jsonl(source, 6_000_000, seed=1)
    stager = Stager(str(tmp_path / "remote"), tmp_path / "cache")
    stager.ok("push", source, "lines")
    packs = [path for path in (tmp_path / "remote" / "packs").rglob("*") if path.is_file()]
    assert len(packs) == 1
    with open(packs[0], "rb") as file:
        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        assert reader.read() == source.read_bytes()
