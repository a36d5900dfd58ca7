"""Whatever is edited and whatever is known of the base, every version is what was pushed."""

from __future__ import annotations

import os
import random
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stager.cache import journal, staging
from stager.cache.frame_files import FrameFiles
from stager.cache.signature import signature_of
from stager.catalog import placements, versions
from stager.model import records
from stager.model.names import Reference
from stager.ops.pull import PullRequest, pull
from stager.ops.verify import verify_remote
from stager.transfer.options import TransferOptions
from tests.support.edits import Files, edited, new_file, record
from tests.support.nodes import Interrupted, KiB, Place, Push, interrupt, small


@st.composite
def histories(draw: st.DrawFn) -> list[Push]:
    """A corpus and two to five edits of it, each with the circumstances of its push."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    pool = [record(rng) for _ in range(6)]
    files = {f"{at}.jsonl": new_file(rng, pool) for at in range(draw(st.integers(1, 4)))}
    history = []
    for number in range(draw(st.integers(3, 6))):
        if number:
            for _ in range(draw(st.integers(1, 3))):
                files = edited(files, rng, pool)
        base = draw(st.one_of(st.just(-1), st.none(), st.integers(0, max(0, number - 1))))
        history.append(
            Push(
                files,
                base if number else -1,
                staged=draw(st.booleans()),
                indexed=draw(st.booleans()),
                window=draw(st.sampled_from([1, 7, 40, 10**6])),
                dead_share=draw(st.sampled_from([0.0, 0.2, 1.0])),
            )
        )
    return history


STOPS = [None, 0, 1, 3, 10]
ONE_AT_A_TIME = TransferOptions(connections=1)


@settings(max_examples=10)
@given(histories(), st.randoms(use_true_random=False))
def test_every_version_is_what_was_pushed(history: list[Push], order: random.Random) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place, pushed, labels = Place(Path(folder)), dict[str, Files](), list[str]()
        for step in history:
            with small(step.window, step.dead_share):
                report = place.push(step, labels, order.choice(STOPS))
            labels.append(report.version)
            assert pushed.setdefault(report.version, step.files) == step.files
        with small():
            for label, files in pushed.items():
                place.check(f"fresh-{label}", label, files)
                assert verify_remote(place.node("any"), Reference("data", label)).is_sound
            again = sorted(pushed)
            order.shuffle(again)
            for label in again:
                place.check("shared", label, pushed[label], order.choice(STOPS))


def lines(seed: int, count: int = 100) -> list[bytes]:
    """Records of about 200 bytes, all different."""
    rng = random.Random(seed)
    return [
        b'{"id": "%s"}\n' % rng.randbytes(rng.randint(50, 130)).hex().encode() for _ in range(count)
    ]


@pytest.mark.parametrize("staged", [True, False], ids=["staged", "by index"])
def test_records_are_found_wherever_they_went(tmp_path: Path, staged: bool) -> None:
    """Two files joined, one in the middle of the other: no frame, file or block is as it was."""
    place, one, two = Place(tmp_path), lines(1), lines(2)
    before = {"a": b"".join(one), "b": b"".join(two), "c": b"kept"}
    joined = {"all": b"".join(one[:50] + two + one[50:]), "c": b"kept"}
    with small():
        place.push(Push(before, None), [])
        report = place.push(Push(joined, -1, staged), ["v1"])
        assert report.bytes_reused == report.bytes_raw
        assert report.bytes_stored == 0
        place.check("fresh", "v2", joined)
        place.pull("other", "v1")
        pulled = place.pull("other", "v2")
        assert pulled.bytes_reused == pulled.bytes_raw
        assert pulled.bytes_transferred < 4 * KiB  # the record and the placement
        place.check("other", "v2", joined)


def test_joined_files_of_a_staged_base_are_compared_across_their_border(tmp_path: Path) -> None:
    place, parts = Place(tmp_path), [b"".join(lines(seed, 5)) for seed in range(20)]
    with small():
        place.push(Push({f"{at:02}": part for at, part in enumerate(parts)}, None), [])
        report = place.push(Push({"all": b"".join(parts)}, -1), ["v1"])
        assert report.bytes_reused == report.bytes_raw
        place.check("fresh", "v2", {"all": b"".join(parts)})


def test_a_record_that_stands_twice_in_a_staged_version_hides_none_of_the_others(
    tmp_path: Path,
) -> None:
    place, once = Place(tmp_path), lines(3)
    twice = [each for at in range(0, 100, 4) for each in (*once[at : at + 4], once[at + 1])]
    with small():
        place.push(Push({"a": b"".join(once)}, None), [])
        place.push(Push({"a": b"".join(twice)}, -1), ["v1"])
        place.push(Push({"a": b"".join(once[1:])}, -1), ["v1", "v2"])
        place.pull("node", "v2")
        pulled = place.pull("node", "v3")
        assert pulled.bytes_reused == pulled.bytes_raw
        assert pulled.bytes_transferred < 4 * KiB
        place.check("node", "v3", {"a": b"".join(once[1:])})


def test_records_whose_hashes_agree_are_told_apart_where_their_bytes_are_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, before = Place(tmp_path), [b"%04d" % at * 30 + b"\n" for at in range(100)]
    after = before[:40] + [line[::-1][1:] + b"\n" for line in before[40:]]
    monkeypatch.setattr(records, "xxh3_64_intdigest", lambda data: 7)
    with small():
        place.push(Push({"a": b"".join(before)}, None), [])
        report = place.push(Push({"a": b"".join(after)}, -1), ["v1"])
        assert 0 < report.bytes_reused < report.bytes_raw
        place.check("fresh", "v2", {"a": b"".join(after)})


def in_part(place: Place) -> Files:
    """Pushes v1 and then v2, which uses most frames of v1 in part; the content of v2."""
    kept = {name: lines(seed) for seed, name in enumerate("abc")}
    after = {name: b"".join(each[::2]) for name, each in kept.items()}
    place.push(Push({name: b"".join(each) for name, each in kept.items()}, None), [])
    report = place.push(Push(after, -1), ["v1"])
    assert report.bytes_reused == report.bytes_raw
    return after


def test_T4_parts_of_frames_that_are_here_are_not_fetched_again(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with small(dead_share=1.0):
        after = in_part(place)
        whole = place.pull("fresh", "v2").bytes_transferred
        first = interrupt(place.node("node"), 3)
        first.config = replace(first.config, transfer=ONE_AT_A_TIME)
        with suppress(Interrupted):
            pull(first, PullRequest(Reference("data", "v2")))
        assert 0 < first.meter.received < whole
        resumed = place.pull("node", "v2").bytes_transferred
        again = first.meter.received + resumed - whole
        assert again < 8 * KiB  # record, placement, and the pack that was stopped
        assert resumed < whole - 8 * KiB
        place.check("node", "v2", after)


def test_T26_a_note_that_lies_is_found_out_and_nothing_is_written_through_a_link(
    tmp_path: Path,
) -> None:
    """A staging folder where all seems to be here; its files are linked elsewhere too."""
    place, outside = Place(tmp_path), tmp_path / "outside"
    outside.mkdir()
    with small(dead_share=1.0):
        after = in_part(place)
        node = place.node("node")
        record = versions.resolve(node.remote, Reference("data", "v2"))
        placement, _ = placements.read(node.remote, record.placement)
        staging.begin(node.folders.staging(record.tree), placement)
        files = FrameFiles(str(node.folders.staging(record.tree)), placement)
        for at, entry in enumerate(placement.files):
            data = bytearray(after[entry.path])
            data[len(data) // 2] ^= at == 0
            Path(files.location(at)).write_bytes(data)
            os.link(files.location(at), outside / entry.path)
        assert not files.is_whole(0)
        for frame in range(len(placement.frames)):
            digest = files.used_digest(frame)
            assert digest is not None
            journal.note(Path(files.folder), frame, digest)
        before = signature_of(outside)
        place.check("node", "v2", after)
    assert signature_of(outside) == before


def rot(path: Path) -> None:
    """Changes bytes in place and puts size and times back, as a bad disk or a bad tool would."""
    facts = os.stat(path)
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b"id", b"ID", 20))
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    path.chmod(0o444)


def test_T32_a_damaged_base_is_not_what_the_remote_holds(tmp_path: Path) -> None:
    """Its records are those of the source, but not those of its frames."""
    place, files = Place(tmp_path), {"a": b"".join(lines(1)), "b": b"".join(lines(2))}
    with small():
        place.push(Push(files, None), [])
        folder = Path(place.pull("pusher", "v1").path)
        rot(folder / "a")
        copied = {name: (folder / name).read_bytes() + b"edited\n" for name in files}
        report = place.push(Push(copied, -1), ["v1"])
        assert report.bytes_reused > len(files["b"]) / 2
        place.check("fresh", "v2", copied)


def test_T32_spans_of_a_damaged_file_are_fetched_instead(tmp_path: Path) -> None:
    place, files = Place(tmp_path), {"a": b"".join(lines(1))}
    after = {"a": b"".join(lines(1)[3:])}
    with small():
        place.push(Push(files, None), [])
        place.push(Push(after, -1), ["v1"])
        rot(Path(place.pull("node", "v1").path) / "a")
        place.check("node", "v2", after)
