from __future__ import annotations

import pytest

from assay.loadgen.colocation.colocation_config import PipelineConfig
from assay.loadgen.colocation.rate_search import long_enough
from assay.loadgen.latency import Trial, find_peak, queries_to_judge, sweep
from assay.stats.early_stopping import within_bound


def limited(most: float) -> tuple[list[float], object]:
    tried: list[float] = []

    def run(rate: float) -> Trial[None]:
        tried.append(rate)
        return Trial(rate, rate <= most, None)

    return tried, run


@pytest.mark.parametrize("most", [3.0, 100.0, 777.0, 12_345.0])
def test_finds_the_peak_to_within_its_precision(most: float) -> None:
    tried, run = limited(most)
    peak = find_peak(run, start=100, precision=0.02)  # type: ignore[arg-type]
    assert peak.rate is not None
    assert most / 1.03 <= peak.rate <= most
    assert peak.bounded
    assert len(tried) <= 20
    assert [trial.rate for trial in peak.trials] == sorted(tried)


def test_says_when_nothing_is_valid_and_when_everything_is() -> None:
    _, never = limited(0)
    assert find_peak(never, start=100).rate is None  # type: ignore[arg-type]
    _, always = limited(float("inf"))
    peak = find_peak(always, start=1, most_trials=5)  # type: ignore[arg-type]
    assert (peak.rate, peak.bounded) == (16, False)


def test_a_sweep_goes_from_low_to_high() -> None:
    tried, run = limited(10)
    assert [trial.valid for trial in sweep(run, [20, 5, 10])] == [True, True, False]  # type: ignore[arg-type]
    assert tried == [5, 10, 20]


@pytest.mark.parametrize("percentile", [0.5, 0.9, 0.99])
def test_enough_queries_to_judge_are_enough(percentile: float) -> None:
    needed = queries_to_judge(percentile)
    assert within_bound(int(needed * (1 - percentile) / 2), needed, percentile)
    assert needed < 100 / (1 - percentile)


def test_a_trial_at_a_low_rate_is_made_longer() -> None:
    given = {
        "name": "a",
        "loadgen": {"component": "poisson", "duration": 2, "timeout": 10, "config": {"rate": 5}},
        "objectives": [{"percentile": 0.9, "seconds": 1}],
        "stages": [{"id": 0, "component": "no_op"}],
    }
    pipeline = PipelineConfig.model_validate(given)
    needed = queries_to_judge(0.9)
    slow = long_enough(pipeline, rate=1.0).loadgen
    assert slow.duration == needed
    assert slow.timeout == 2 * needed
    assert long_enough(pipeline, rate=10_000).loadgen == pipeline.loadgen
