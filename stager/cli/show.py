"""`stager show alpaca@v3`"""

from __future__ import annotations

from stager.cli import settings
from stager.cli.output import Output, plain
from stager.model.names import parse_reference
from stager.model.sizes import size_text
from stager.ops.show import VersionFacts
from stager.ops.show import show as run

app = settings.verb_app()


@app.command()
def show(
    reference: settings.Reference,
    remote: settings.Remote = None,
    as_json: settings.AsJson = False,
) -> None:
    """Everything known of one version."""
    output = Output(as_json)
    facts = run(settings.workspace(output, remote, None), parse_reference(reference))
    output.result(_document(facts), _text(facts))


def _document(facts: VersionFacts) -> object:
    return {**plain(facts.record), **{key: getattr(facts, key) for key in _COUNTS}}


def _text(facts: VersionFacts) -> str:
    record = facts.record
    provenance = ", ".join(f"{key} {value}" for key, value in record.provenance.items())
    lines = {
        "version": f"{record.name}@{record.version}",
        "tree": record.tree,
        "time": record.time,
        "author": record.author,
        "message": record.message or "-",
        "parent": record.parent or "-",
        "files": f"{record.files}, {size_text(record.bytes_raw)}",
        "stored": f"{size_text(facts.bytes_stored)} in {facts.packs} packs, {facts.frames} frames",
        "added": size_text(record.bytes_new),
        "placement": f"{record.placement.key}, {size_text(record.placement.stored)}",
        "from": provenance or "-",
    }
    return "\n".join(f"{name:10}{value}" for name, value in lines.items())


_COUNTS = ("packs", "frames", "slices", "bytes_stored")
