"""Lines that mean the same give the same output, whatever form they are in, at every level of the compiled core."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stages.alm import oracle
from tests.stages.alm.curation import curate_block, odd_manifest, output_of
from tests.stages.alm.spelling import FORMS, in_form, respelled
from tests.stages.alm.strategies import builders, lines

from assay.benchmarks.data.alm import SHAPES, recordings
from assay.native.library import LEVELS
from assay.stages.alm.kernel import library
from assay.stages.alm.split_summary import summarise

Json = dict[str, Any]


def at_every_level() -> Iterator[str]:
    """Levels that this processor has, one after the other."""
    own = library().assay_level()
    try:
        for level in range(own + 1):
            assert library().assay_limit_level(level) == level
            yield LEVELS[level]
    finally:
        library().assay_limit_level(own)


@settings(max_examples=150, deadline=None)
@given(st.lists(lines(), min_size=1, max_size=4), builders, st.integers(), st.sampled_from([0.02, 0.3]))
def test_any_spelling_gives_what_the_oracle_says(manifest: list[str], builder: Json, seed: int, share: float) -> None:
    rng = random.Random(seed)
    block = "\n".join(respelled(line, rng, share) for line in manifest).encode()
    expected = b"".join(oracle.curated_line(line, builder, {"overlap_percentage": 50}) for line in manifest)
    plain = curate_block(block, builder, {"overlap_percentage": 50}, native=False)
    assert output_of(plain) == expected
    digest = summarise(plain, digest=True).digest
    for level in at_every_level():
        compiled = curate_block(block, builder, {"overlap_percentage": 50})
        assert output_of(compiled) == expected, level
        assert summarise(compiled, digest=True).digest == digest, level


@settings(max_examples=150, deadline=None)
@given(lines(), st.sampled_from(sorted(FORMS)), st.integers(), st.data())
def test_a_damaged_line_of_any_form_is_never_taken_for_another(
    line: str, form: str, seed: int, data: st.DataObject
) -> None:
    damaged = bytearray(respelled(in_form(line, form), random.Random(seed), 0.01).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        byte = data.draw(st.sampled_from(list(b'{}[]",: 019.-eE+\\uUdD8fFcC/tn\x00\x1f\x80\xc3\xff')))
        damaged[at : at + data.draw(st.integers(0, 1))] = bytes([byte])
    plain = curate_block(bytes(damaged), skip=True, native=False)
    for level in at_every_level():
        compiled = curate_block(bytes(damaged), skip=True)
        assert output_of(compiled) == output_of(plain), level
        assert compiled.bad == plain.bad, level


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize(("shape", "count"), [("short", 60), ("long", 2)])
def test_the_compiled_pass_takes_every_form(form: str, shape: str, count: int) -> None:
    named = list(recordings(count, SHAPES[shape], seed=9))
    numbered = [_with_whole_speakers(line) for line in named]
    assert numbered != named
    for manifest in (named, numbered):
        block = "\n".join(in_form(line, form) for line in manifest).encode()
        expected = b"".join(oracle.curated_line(line, overlap={"overlap_percentage": 50}) for line in manifest)
        for level in at_every_level():
            curated = curate_block(block, overlap={"overlap_percentage": 50})
            assert len(curated.plain) == 0, level
            assert output_of(curated) == expected, level


def _with_whole_speakers(line: str) -> str:
    return re.sub(r'"speaker": "speaker_(\d+)"', r'"speaker": \1', line)


def test_a_name_is_the_same_speaker_however_it_is_spelled() -> None:
    def segment(start: int, speaker: str) -> str:
        return f'{{"start": {start}, "end": {start + 40}, "speaker": "{speaker}", "metrics": {{"bandwidth": 9000}}}}'

    spelled = [segment(0, "Jörg"), segment(40, "J\\u00f6rg"), segment(80, "J\\u00F6rg")]
    line = f'{{"audio_sample_rate": 16000, "segments": [{", ".join(spelled)}]}}'
    curated = curate_block(line.encode(), {"min_speakers": 1, "max_speakers": 1})
    assert len(curated.plain) == 0
    assert output_of(curated) == oracle.curated_line(line, {"min_speakers": 1, "max_speakers": 1})
    assert json.loads(output_of(curated))["windows"][0]["speaker_durations"][0] == 120


@pytest.mark.parametrize("spelled", ['"no\\u002dspeaker"', '""', '"\\u0030"', "0"])
def test_speakers_with_rules_are_known_in_every_spelling(spelled: str) -> None:
    segment = f'{{"start":0,"end":60,"speaker":{spelled},"metrics":{{"bandwidth":9000}}}}'
    other = '{"start":60,"end":120,"speaker":"0","metrics":{"bandwidth":9000}}'
    line = f'{{"audio_sample_rate":16000,"segments":[{segment},{other}]}}'
    curated = curate_block(line.encode(), {"min_speakers": 0})
    assert len(curated.plain) == 0
    assert output_of(curated) == oracle.curated_line(line, {"min_speakers": 0})


@pytest.mark.parametrize(
    "line",
    [
        '{"audio_sample_rate":16000,"segments":[{"start":0,"start": 1,"end":60}]}',
        '{"audio_sample_rate":16000,"segments":[{"start":0,"st\\u0061rt":1,"end":60}]}',
        '{"audio_sample_rate":16000,"note":{"a":0,"\\u0061":1},"segments":[]}',
        '{"audio_sample_rate":16000,"segments":[],"segments": [{"start":0,"end":60}]}',
    ],
)
def test_of_repeated_keys_the_last_one_counts_in_every_spelling(line: str) -> None:
    assert output_of(curate_block(line.encode())) == oracle.curated_line(line)


def test_forms_may_change_from_line_to_line() -> None:
    rng = random.Random(3)
    manifest = [in_form(line, rng.choice(sorted(FORMS))) for line in recordings(300, SHAPES["short"], seed=4)]
    block = "\n".join(manifest).encode()
    curated = curate_block(block)
    assert len(curated.plain) == 0
    assert output_of(curated) == b"".join(oracle.curated_line(line) for line in manifest)


@pytest.mark.parametrize("limit", ["none", *LEVELS])
def test_the_program_writes_the_same_at_every_level(limit: str, tmp_path: Path) -> None:
    manifest = odd_manifest(tmp_path, count=200, seed=6)
    words = ["--input-manifest", str(manifest), "--benchmark-results-path", str(tmp_path / "results")]
    command = [sys.executable, "-m", "assay.benchmarks.alm_pipeline_benchmark", *words]
    output = tmp_path / "out.jsonl"
    environment = {**os.environ, "ASSAY_NATIVE": limit}
    subprocess.run([*command, "--output-manifest", str(output)], env=environment, check=True, capture_output=True)
    lines = manifest.read_text(encoding="utf-8").split("\n")
    expected = b"".join(oracle.curated_line(line, overlap={"overlap_percentage": 50}) for line in lines if line.strip())
    assert output.read_bytes() == expected
    used = json.loads((tmp_path / "results" / "params.json").read_text())["kernel"].split()[0]
    assert used == "none" if limit == "none" else LEVELS.index(used) <= LEVELS.index(limit)
