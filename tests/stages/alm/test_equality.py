"""The product against the oracle, byte for byte: what the compiled pass, the strict parser and the oracle write."""

from __future__ import annotations

import json
import pickle
import re
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.stages.alm import oracle
from tests.stages.alm.curation import curate_block, odd_manifest, oracle_output, output_of, pipeline, total
from tests.stages.alm.strategies import builders, lines, overlaps

from assay.benchmarks.data.alm import SHAPES, write_manifest
from assay.pipeline.executors.executor import LocalExecutor
from assay.stages.alm.digest import combine, record_digest
from assay.stages.alm.split_summary import summarise

Json = dict[str, Any]


@settings(max_examples=150, deadline=None)
@given(st.lists(lines(), min_size=1, max_size=4), builders, overlaps)
def test_both_ways_write_what_the_oracle_says(manifest: list[str], builder: Json, overlap: Json) -> None:
    block = "\n".join(manifest).encode()
    expected = b"".join(oracle.curated_line(line, builder, overlap) for line in manifest)
    compiled = curate_block(block, builder, overlap)
    plain = curate_block(block, builder, overlap, native=False)
    assert output_of(plain) == expected
    assert output_of(compiled) == expected
    assert summarise(compiled, digest=True).digest == summarise(plain, digest=True).digest


@settings(max_examples=150, deadline=None)
@given(lines(), st.data())
def test_a_damaged_line_is_never_taken_for_another(line: str, data: st.DataObject) -> None:
    """Whatever the compiled pass accepts of a damaged line, the strict parser accepts and reads the same."""
    damaged = bytearray(line.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        kind = data.draw(st.integers(0, 2))
        byte = data.draw(st.sampled_from(list(b'{}[]",: 019.-eE+\\untf\x00\x1f\x80\xc3\xff')))
        if kind == 0:
            damaged[at] = byte
        elif kind == 1:
            damaged.insert(at, byte)
        else:
            del damaged[at]
    compiled = curate_block(bytes(damaged), skip=True)
    plain = curate_block(bytes(damaged), skip=True, native=False)
    assert output_of(compiled) == output_of(plain)
    assert compiled.bad == plain.bad


@settings(max_examples=1500, deadline=None)
@given(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.floats(0, 1e6),
        st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack("<d", struct.pack("<Q", bits))[0]),
    )
)
@example(5e-324)
@example(2.2250738585072014e-308)
@example(1.7976931348623157e308)
@example(9007199254740993.0)
@example(1e16)
@example(1e15)
@example(0.0001)
@example(0.00001)
def test_floats_are_printed_as_python_prints_them(value: float) -> None:
    from ctypes import create_string_buffer

    from assay.stages.alm.kernel import library

    if value != value or value in (float("inf"), float("-inf")):
        return
    out = create_string_buffer(40)
    size = library().alm_float(value, out)
    assert out.raw[:size].decode() == repr(value)


def test_spans_that_agree_to_six_digits_are_told_apart_as_rounding_does() -> None:
    """Two windows closer than the sixth digit: only decimal rounding can say whether they are the same."""

    def segment(start: float, end: float, speaker: str) -> Json:
        return {"start": start, "end": end, "speaker": speaker, "metrics": {"bandwidth": 9000}, "text": "x"}

    for nudge in (1e-7, 4.9e-7, 5.1e-7, 1e-6, 2e-6, 0.0):
        entry = {
            "audio_sample_rate": 16000,
            "segments": [segment(0.0, 30.0, "a"), segment(nudge, 60.0, "b"), segment(60.0, 125.0, "a")],
        }
        line = json.dumps(entry)
        block = line.encode()
        assert output_of(curate_block(block)) == oracle.curated_line(line)


@pytest.mark.slow
def test_ten_thousand_odd_recordings(tmp_path: Path) -> None:
    manifest = odd_manifest(tmp_path)
    expected = oracle_output(manifest)
    for workers in (1, 2):
        parts = pipeline(manifest, tmp_path / str(workers)).run(LocalExecutor(workers)).outputs
        assert b"".join(Path(part.path).read_bytes() for part in parts) == expected
        summary = total(parts)
        assert summary.entries == 10_000
        assert 0 < summary.strict < 6000


def test_the_digest_is_that_of_the_oracles_records(tmp_path: Path) -> None:
    manifest = odd_manifest(tmp_path, count=150, seed=5)
    digest = 0
    for line in oracle_output(manifest).splitlines():
        digest = combine(digest, record_digest(json.loads(line)), 1)
    assert total(pipeline(manifest).run().outputs).digest == digest


def test_a_batch_survives_the_way_to_another_process() -> None:
    line = Path("tests/fixtures/audio/alm/sample_input.jsonl").read_bytes()
    batch = curate_block(line, overlap={"overlap_percentage": 50})
    copied = pickle.loads(pickle.dumps(batch))
    assert output_of(copied) == output_of(batch)
    assert summarise(copied, digest=True) == summarise(batch, digest=True)


def test_any_change_of_an_output_field_changes_the_digest() -> None:
    line = Path("tests/fixtures/audio/alm/sample_input.jsonl").read_text().splitlines()[0]
    record = oracle.curate(line, overlap={"overlap_percentage": 50})
    record = json.loads(json.dumps(record))
    base = record_digest(record)
    changed = 0
    for path in _leaves(record):
        before = _set(record, path, "changed" if path[-1] not in _NUMBERS else 12345.678)
        assert record_digest(record) != base, path
        _set(record, path, before)
        changed += 1
    assert changed > 100
    assert record_digest(record) == base


_NUMBERS = ("total_dur_window", "filtered_dur", "truncation_events")


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    found = [leaf for key, inner in items for leaf in _leaves(inner, (*path, key))]
    return found or ([path] if not isinstance(value, dict | list) else [])


def _set(record: Any, path: tuple[Any, ...], value: Any) -> Any:
    for step in path[:-1]:
        record = record[step]
    before, record[path[-1]] = record[path[-1]], value
    return before


def test_the_compiled_pass_takes_every_ordinary_recording(tmp_path: Path) -> None:
    for shape, count in (("short", 60), ("long", 2)):
        manifest = tmp_path / f"{shape}.jsonl"
        write_manifest(manifest, count, SHAPES[shape], seed=9)
        parts = pipeline(manifest, tmp_path / shape).run().outputs
        assert total(parts).strict == 0
        assert b"".join(Path(part.path).read_bytes() for part in parts) == oracle_output(manifest)


@pytest.mark.parametrize("native", [True, False])
def test_speakers_that_are_integers_give_what_their_names_give(native: bool) -> None:
    """0 among them: a diariser counts from there."""
    named = Path("tests/fixtures/audio/alm/sample_input.jsonl").read_text(encoding="utf-8").splitlines()
    names = sorted({segment["speaker"] for line in named for segment in json.loads(line)["segments"]})
    numbers = {name: at for at, name in enumerate(name for name in names if name != "no-speaker")}
    numbered = [re.sub(r'"speaker": "([^"]*)"', lambda at: _numbered(at, numbers), line) for line in named]
    assert numbered != named
    curated = curate_block("\n".join(numbered).encode(), overlap={"overlap_percentage": 50}, native=native)
    assert len(curated.plain) == (0 if native else len(numbered))
    ours = output_of(curated)
    theirs = output_of(curate_block("\n".join(named).encode(), overlap={"overlap_percentage": 50}, native=native))
    assert ours == re.sub(r'"speaker": "([^"]*)"', lambda at: _numbered(at, numbers), theirs.decode()).encode()


def _numbered(match: re.Match[str], numbers: dict[str, int]) -> str:
    return f'"speaker": {numbers[match[1]]}' if match[1] in numbers else match[0]
