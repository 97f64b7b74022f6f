"""The edges of each rule, one recording each: both ways must agree with the oracle there."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.stages.alm import oracle
from tests.stages.alm.curation import curate_block, output_of

Segments = list[dict[str, Any]]


def seg(start: float, end: float, speaker: Any = "a", bandwidth: float = 9000, **more: Any) -> dict[str, Any]:
    return {"start": start, "end": end, "speaker": speaker, "metrics": {"bandwidth": bandwidth}, "text": "x y", **more}


WORDS = [{"word": f"w{n}", "start": 100.0 + n, "end": 100.5 + n} for n in range(50)]
EMPTY = [{"word": "", "end": 101}, {"end": 102}, {"word": None, "end": 103}]
CASES: dict[str, Segments] = {
    "no segments": [],
    "one segment of the right length": [seg(0, 120)],
    "exactly the least length": [seg(0, 60), seg(60, 108, "b")],
    "just below it": [seg(0, 60), seg(60, 107.999, "b")],
    "exactly the greatest length": [seg(0, 60), seg(60, 132, "b")],
    "cut, words kept": [seg(0, 100), seg(100, 150, "b", words=WORDS)],
    "cut, no word fits": [seg(0, 120.5), seg(121, 150, "b", words=[{"word": "late", "end": 149}])],
    "cut, no words at all": [seg(0, 110), seg(110, 150, "b")],
    "cut, words out of order": [seg(0, 100), seg(100, 150, "b", words=WORDS[::-1])],
    "cut, empty words skipped": [seg(0, 100), seg(100, 150, "b", words=[*EMPTY, *WORDS])],
    "starts after the limit, so not cut": [seg(0.0, 60.0), seg(60.0, 125.0, "b"), seg(140.0, 150.0)],
    "starts at the limit": [seg(0.0, 60.0), seg(60.0, 125.0, "b"), seg(132.0, 150.0)],
    "one speaker": [seg(0, 60), seg(60, 120)],
    "five speakers, then a sixth": [seg(20 * n, 20 * n + 20, f"s{n}") for n in range(8)],
    "the sixth is the one cut": [seg(25 * n, 25 * n + 25, f"s{n}") for n in range(6)],
    "no-speaker ends it": [seg(0, 60), seg(60, 100, "b"), seg(100, 130, "no-speaker"), seg(130, 150)],
    "no-speaker first": [seg(0, 60, "no-speaker"), seg(60, 130, "b")],
    "null and empty speakers join": [seg(0, 40), seg(40, 80, None), seg(80, 120, ""), seg(120, 140, "b")],
    "missing speaker": [seg(0, 60), {"start": 60, "end": 119, "metrics": {"bandwidth": 9000}}, seg(119, 125, "b")],
    "narrow inside": [seg(0, 60), seg(60, 90, "b", 7999.9), seg(90, 150), seg(150, 210, "b")],
    "narrow last": [seg(0, 60), seg(60, 90, "b"), seg(90, 150, "a", 0)],
    "starts go back": [seg(50, 100), seg(10, 60, "b"), seg(60, 120), seg(5, 70, "b"), seg(70, 130)],
    "ends go back": [seg(0, 125), seg(1, 20, "b"), seg(20, 130), seg(130, 140, "b")],
    "integers and floats": [seg(0, 60), seg(60.0, 120, "b"), seg(120, 180), seg(180, 240, "b"), seg(240, 300.0)],
    "equal spans": [seg(0, 60), seg(0, 60, "b"), seg(60, 120), seg(60, 120, "b")],
    "zero length": [seg(0, 0), seg(0, 120, "b"), seg(120, 120), seg(120, 240, "b")],
    "a long conversation": [seg(7 * n, 7 * n + 6.5, f"s{n % 3}", words=WORDS[: n % 5]) for n in range(60)],
}  # fmt: skip


@pytest.mark.parametrize("percentage", [0, 50, 100])
@pytest.mark.parametrize("name", CASES)
def test_at_the_edge(name: str, percentage: float) -> None:
    line = json.dumps({"audio_filepath": "a.wav", "audio_sample_rate": 16000, "segments": CASES[name]})
    expected = oracle.curated_line(line, overlap={"overlap_percentage": percentage})
    compiled = curate_block(line.encode(), overlap={"overlap_percentage": percentage})
    assert not compiled.plain, "the compiled pass should take this one"
    assert output_of(compiled) == expected
    assert output_of(curate_block(line.encode(), overlap={"overlap_percentage": percentage}, native=False)) == expected
