"""Durations so large that a double can lose digits of their sums: integers stay exact, whichever way a line goes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stages.alm import oracle
from tests.stages.alm.curation import curate_block, output_of

from assay.stages.alm.split_summary import summarise

Json = dict[str, Any]
LARGEST = 999_999_999_999_999
"""What the compiled pass takes: fifteen digits."""
large = st.one_of(
    st.integers(-LARGEST, LARGEST),
    st.sampled_from([LARGEST, -LARGEST, 2**49, 0, 1]),
    st.integers(0, 300),
    st.floats(-1e14, 1e14, allow_nan=False).map(lambda value: round(value, 1)),
    st.sampled_from([1e299, -1e299, 1e20]),
)
segments = st.lists(
    st.fixed_dictionaries(
        {"start": large, "end": large, "speaker": st.sampled_from("abc"), "metrics": st.just({"bandwidth": 9000})}
    ),
    max_size=30,
)


def curated_alike(manifest: list[list[Json]], builder: Json, overlap: Json) -> None:
    lines = [json.dumps({"audio_sample_rate": 16000, "segments": one}) for one in manifest]
    block = "\n".join(lines).encode()
    compiled = curate_block(block, builder, overlap)
    plain = curate_block(block, builder, overlap, native=False)
    assert output_of(compiled) == output_of(plain)
    assert output_of(plain) == b"".join(oracle.curated_line(line, builder, overlap) for line in lines)
    counted, expected = summarise(compiled, digest=True), summarise(plain, digest=True)
    assert repr(replace(counted, strict=0)) == repr(replace(expected, strict=0))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(segments, min_size=1, max_size=3),
    st.sampled_from([120.0, 1e15, 2.0**52]),
    st.sampled_from([0.1, 1.0]),
    st.sampled_from([0, 50, 100]),
)
def test_large_durations_are_summed_alike(
    manifest: list[list[Json]], target: float, tolerance: float, percentage: int
) -> None:
    builder = {"target_window_duration": target, "tolerance": tolerance, "min_speakers": 1}
    curated_alike(manifest, builder, {"overlap_percentage": percentage, "target_duration": target})


@pytest.mark.parametrize("rate", [16000, 8000])
def test_a_sum_of_integers_beyond_the_digits_of_a_double_is_exact(rate: int) -> None:
    one = {"start": 0, "end": LARGEST, "speaker": "a", "metrics": {"bandwidth": 9000}}
    line = json.dumps({"audio_sample_rate": rate, "segments": [one] * 11})
    text = output_of(curate_block(line.encode()))
    assert json.loads(text)["stats"]["total_dur"] == 11 * LARGEST


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("end", ["1e308", "-1e300", "9007199254740992"])
def test_a_time_whose_sums_could_be_infinite_is_a_bad_line(end: str, native: bool) -> None:
    line = f'{{"audio_sample_rate": 16000, "segments": [{{"start": 0, "end": {end}, "speaker": "a"}}]}}'
    (bad,) = curate_block(line.encode(), skip=True, native=native).bad
    assert (bad.field, bad.problem) == ("segments[0].end", "is too large a number")
