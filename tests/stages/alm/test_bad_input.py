"""Each kind of broken manifest: one message that names file, line and field; with `skip`, every good line is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.stages.alm import oracle
from tests.stages.alm.curation import pipeline, total

from assay.errors import DataError
from assay.pipeline.executors.executor import LocalExecutor
from assay.stages.alm import manifest_reader
from assay.stages.alm.recording import describe

GOOD = Path("tests/fixtures/audio/alm/sample_input.jsonl").read_text(encoding="utf-8").splitlines()


def segment(**changes: Any) -> dict[str, Any]:
    return {"start": 0.0, "end": 1.0, "speaker": "a", "metrics": {"bandwidth": 9000}, **changes}


def entry(**changes: Any) -> str:
    return json.dumps({"audio_filepath": "a.wav", "audio_sample_rate": 16000, "segments": [segment()], **changes})


LONG = [segment(start=float(i * 10), end=float(i * 10 + 10)) for i in range(14)]
BAD = {
    '{"audio_filepath": "a.wav", "segments": [': r"broken JSON: Expecting value at column 42",
    "not json": "broken JSON",
    '{"segments": []}x': "broken JSON: Extra data at column 17",
    '{"segments": [], "x": NaN}': "NaN is not a JSON value",
    '{"segments": [], "x": 1e999}': "1e999 is too large a number",
    '{"segments": [], "x": "\\ud800"}': "half of a surrogate pair",
    "[1, 2]": "a recording is a JSON object, this is a list",
    '{"audio_filepath": "a.wav"}': "segments: missing",
    entry(segments={"start": 1}): "segments: should be a list, is an object",
    entry(segments="none"): r"segments: should be a list, is a string \('none'\)",
    entry(segments=[1]): r"segments\[0\]: should be an object, is a number",
    entry(
        segments=[segment(), segment(start="1.5")]
    ): r"segments\[1\]\.start: should be a number, is a string \('1\.5'\)",
    entry(segments=[segment(end=None)]): r"segments\[0\]\.end: should be a number, is null",
    entry(segments=[segment(end=True)]): r"segments\[0\]\.end: should be a number, is a boolean",
    entry(segments=[{"start": 1}]): r"segments\[0\]\.end: missing",
    entry(
        segments=[segment(speaker=7.0)]
    ): r"segments\[0\]\.speaker: should be a string, an integer or null, is a number",
    entry(
        segments=[segment(speaker=True)]
    ): r"segments\[0\]\.speaker: should be a string, an integer or null, is a boolean",
    entry(segments=[segment(metrics=None)]): r"segments\[0\]\.metrics: should be an object, is null",
    entry(segments=[segment(metrics={"bandwidth": "8k"})]): r"segments\[0\]\.metrics\.bandwidth: should be a number",
    entry(audio_sample_rate="16k"): "audio_sample_rate: should be a number",
    entry(segments=[*LONG[:13], {**LONG[13], "words": [{"word": "x", "end": "9"}]}]): (
        r"segments\[13\]\.words\[0\]\.end: should be a number"
    ),
    entry(segments=[*LONG[:13], {**LONG[13], "words": "x"}]): r"segments\[13\]\.words: should be a list",
    '{"segments": [' + "[" * 2000 + "]" * 2000 + "]}": r"segments\[0\]: should be an object|nested too deeply",
}


@pytest.mark.parametrize(("line", "message"), BAD.items())
@pytest.mark.parametrize("workers", [1, 2])
def test_a_bad_line_is_fatal_and_named(line: str, message: str, workers: int, tmp_path: Path) -> None:
    manifest = tmp_path / "bad.jsonl"
    manifest.write_text("\n".join([GOOD[0], "", line, GOOD[1]]) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"bad\.jsonl:3: .*({message}).*--on-bad-line skip") as caught:
        pipeline(manifest).run(LocalExecutor(workers))
    assert "\n" not in str(caught.value)


def test_a_line_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    manifest = tmp_path / "bad.jsonl"
    manifest.write_bytes(GOOD[0].encode() + b'\n{"segments": [], "x": "\xff"}\n')
    with pytest.raises(DataError, match=r"bad\.jsonl:2: is not UTF-8 \(byte 24 of the line\)"):
        pipeline(manifest).run()


def test_skip_keeps_every_good_line_and_lists_the_bad(tmp_path: Path) -> None:
    manifest = tmp_path / "mixed.jsonl"
    lines = [text for bad in BAD for text in (GOOD[0], bad, "", GOOD[1])]
    manifest.write_text("\n".join(lines) + "\n", encoding="utf-8")
    parts = pipeline(manifest, tmp_path / "out", skip=True).run(LocalExecutor(2)).outputs
    written = b"".join(Path(part.path).read_bytes() for part in parts)
    good = [oracle.curated_line(GOOD[n], overlap={"overlap_percentage": 50}) for n in (0, 1)]
    assert written == b"".join(good * len(BAD))
    summary = total(parts)
    assert summary.skipped == len(BAD)
    assert [one.split(":")[1] for one in describe(summary.bad)] == [str(4 * n + 2) for n in range(len(BAD))]


def test_an_empty_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(GOOD[0] + "\n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text("")
    with pytest.raises(DataError, match=r"b\.jsonl:1: segments: the file is empty"):
        pipeline(tmp_path).run()
    assert total(pipeline(tmp_path, skip=True).run().outputs).entries == 1


@pytest.mark.parametrize("name", ["long.jsonl", "long.jsonl.gz"])
def test_a_line_too_long_is_named_and_can_be_skipped(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gzip

    monkeypatch.setattr(manifest_reader, "LONGEST_LINE", 4 * 2**20)
    huge = entry(segments=[segment(text="x" * (5 * 2**20))])
    manifest = tmp_path / name
    with gzip.open(manifest, "wt") if name.endswith("gz") else manifest.open("w") as out:
        out.write("\n".join([GOOD[0], huge, GOOD[1], huge]))
    with pytest.raises(DataError, match=r"long\.jsonl(\.gz)?:2: segments: the line is longer than 4 MB"):
        pipeline(manifest).run()
    summary = total(pipeline(manifest, skip=True).run().outputs)
    assert (summary.entries, summary.skipped) == (2, 2)


def test_a_truncated_archive_is_named(tmp_path: Path) -> None:
    import gzip

    whole = gzip.compress(GOOD[0].encode() + b"\n")
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[:-40])
    with pytest.raises(DataError, match=r"cut\.jsonl\.gz: cannot be read"):
        pipeline(tmp_path / "cut.jsonl.gz").run()


def test_no_such_manifest(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.jsonl: no such file"):
        pipeline(tmp_path / "gone.jsonl").run()
    with pytest.raises(DataError, match="no manifest there"):
        pipeline(tmp_path).run()
