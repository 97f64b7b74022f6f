from __future__ import annotations

import gzip
import random
from itertools import pairwise
from pathlib import Path

import pytest
from tests.stages.alm.curation import pipeline, total

from assay.pipeline import FileRange, Split
from assay.stages.alm import manifest_reader
from assay.stages.alm import manifest_reader as line_blocks
from assay.stages.alm.manifest_reader import ManifestReader, RepeatEntries

FIXTURE = Path("tests/fixtures/audio/alm/sample_input.jsonl")


def read(source: ManifestReader | RepeatEntries, splits: list[Split] | None = None) -> bytes:
    wanted = source.splits() if splits is None else splits
    return b"".join(lines.data for split in wanted for lines in source.read(split))


@pytest.mark.parametrize("seed", range(8))
def test_every_line_is_in_exactly_one_split(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(line_blocks, "BLOCK", rng.choice((7, 64, 1000)))
    data = b"".join(b"x" * rng.choice((0, 1, 5, 40, 300)) + b"\n" for _ in range(200))
    path = tmp_path / "m.jsonl"
    path.write_bytes(data[: len(data) - rng.randint(0, 1)])
    edges = sorted({0, *(rng.randrange(len(data)) for _ in range(9))})
    ranges = [FileRange(str(path), a, b) for a, b in zip(edges, [*edges[1:], None], strict=True)]
    reader = ManifestReader(str(path))
    splits = [Split(n, (piece,)) for n, piece in enumerate(ranges)]
    assert read(reader, splits) == path.read_bytes()
    counted = sum(len(lines) for split in splits for lines in reader.read(split))
    assert counted == sum(1 for line in path.read_bytes().split(b"\n") if line)
    for split in splits:
        for lines in reader.read(split):
            assert path.read_bytes()[lines.offset : lines.offset + len(lines.data)] == lines.data


def test_splits_do_not_depend_on_the_workers_and_cover_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest_reader, "SMALLEST", 1000)
    splits = ManifestReader(str(FIXTURE)).splits()
    assert len(splits) > 10
    pieces = [split.ranges[0] for split in splits]
    assert pieces[0].start == 0
    assert pieces[-1].end is None
    assert all(a.end == b.start for a, b in pairwise(pieces))


@pytest.mark.parametrize("form", ["jsonl", "gz", "zst"])
def test_compressed_manifests_give_the_same(form: str, tmp_path: Path) -> None:
    data = FIXTURE.read_bytes()
    path = tmp_path / ("m.jsonl" if form == "jsonl" else f"m.jsonl.{form}")
    if form == "gz":
        data = gzip.compress(data)
    elif form == "zst":
        import zstandard

        data = zstandard.ZstdCompressor().compress(data[:5000]) + zstandard.ZstdCompressor().compress(data[5000:])
    path.write_bytes(data)
    assert total(pipeline(path).run().outputs).digest == total(pipeline(FIXTURE).run().outputs).digest


def test_folders_globs_and_addresses(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.jsonl", "a.jsonl", "deep/c.json", ".hidden.jsonl", "notes.txt"):
        (tmp_path / name).write_text(name + "\n")
    assert read(ManifestReader(str(tmp_path))) == b"a.jsonl\nb.jsonl\ndeep/c.json\n"
    assert read(ManifestReader(str(tmp_path / "*.jsonl"))) == b"a.jsonl\nb.jsonl\n"
    assert read(ManifestReader(f"file://{tmp_path}/b.jsonl")) == b"b.jsonl\n"
    assert read(ManifestReader([str(tmp_path / "b.jsonl"), str(tmp_path / "a.jsonl")])) == b"b.jsonl\na.jsonl\n"


def test_an_address_in_memory() -> None:
    import fsspec

    files = fsspec.filesystem("memory")
    files.pipe("/manifests/m.jsonl", FIXTURE.read_bytes())
    assert read(ManifestReader("memory://manifests/m.jsonl")) == FIXTURE.read_bytes()


@pytest.mark.parametrize("factor", [1, 2, 7, 500])
def test_repeated_entries_come_from_bytes_each_time(factor: int) -> None:
    source = RepeatEntries(ManifestReader(str(FIXTURE)), factor)
    assert read(source) == FIXTURE.read_bytes() * factor
    assert sum(split.copies for split in source.splits()) == factor
    assert sum(len(lines) for split in source.splits() for lines in source.read(split)) == 5 * factor


def test_repeats_of_a_file_of_several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_blocks, "BLOCK", 20_000)
    assert read(RepeatEntries(ManifestReader(str(FIXTURE)), 3)) == FIXTURE.read_bytes() * 3
