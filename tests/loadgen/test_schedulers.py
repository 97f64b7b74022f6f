from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from assay.errors import DataError, UsageError
from assay.loadgen import (
    ConstantLoadScheduler,
    GammaLoadScheduler,
    OfflineLoadScheduler,
    PoissonLoadScheduler,
    RampLoadScheduler,
    SingleStreamLoadScheduler,
    StepsLoadScheduler,
    TraceLoadScheduler,
)
from assay.loadgen.schedulers.scheduler import draw

SECOND = 10**9


@pytest.mark.parametrize("rate", [1000, 5000, 10_000])
def test_poisson_gaps_are_exponential(rate: int) -> None:
    drawn = draw(PoissonLoadScheduler(rate), seed=11, max_queries=20_000, duration_ns=None)
    gaps = np.diff(drawn, prepend=0) / SECOND
    assert stats.kstest(gaps, "expon", args=(0, 1 / rate)).pvalue > 0.01
    # The test can fail: gaps of another rate, or even ones, do not pass.
    assert stats.kstest(gaps * 1.05, "expon", args=(0, 1 / rate)).pvalue < 0.01
    even = np.diff(draw(ConstantLoadScheduler(rate), 0, 20_000, None), prepend=0) / SECOND
    assert stats.kstest(even, "expon", args=(0, 1 / rate)).pvalue < 0.01


def test_poisson_counts_have_the_variance_of_a_poisson_process() -> None:
    drawn = draw(PoissonLoadScheduler(1000), seed=3, max_queries=None, duration_ns=100 * SECOND)
    counts = np.bincount(drawn // (SECOND // 10), minlength=1000)
    assert counts.mean() == pytest.approx(100, rel=0.02)
    assert counts.var() / counts.mean() == pytest.approx(1, abs=0.15)


def test_a_seed_gives_the_same_schedule_and_another_another() -> None:
    one, same, other = (draw(GammaLoadScheduler(100, cv=3), seed, 500, None) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_gamma_has_the_burstiness_asked_for() -> None:
    gaps = np.diff(draw(GammaLoadScheduler(1000, cv=2.5), 5, 200_000, None))
    assert gaps.std() / gaps.mean() == pytest.approx(2.5, rel=0.03)
    assert gaps.mean() == pytest.approx(SECOND / 1000, rel=0.03)


def test_constant_is_even_without_drift_over_blocks() -> None:
    drawn = draw(ConstantLoadScheduler(3), 0, 100_000, None)
    assert np.abs(drawn - np.arange(100_000) * SECOND / 3).max() <= 1


def test_offline_sends_everything_at_once_and_paces_with_a_rate() -> None:
    assert not draw(OfflineLoadScheduler(), 0, 10_000, None).any()
    paced = draw(OfflineLoadScheduler(rate=5), 0, 10, None)
    assert paced.tolist() == [n * SECOND // 5 for n in range(10)]


@pytest.mark.parametrize("poisson", [False, True])
def test_a_ramp_sends_what_lies_under_it(poisson: bool) -> None:
    drawn = draw(RampLoadScheduler(0, 2000, seconds=10, poisson=poisson), 1, None, None)
    assert len(drawn) == pytest.approx(10_000, rel=0.03)
    first_half = np.count_nonzero(drawn < 5 * SECOND)
    assert first_half / len(drawn) == pytest.approx(0.25, abs=0.02)
    assert (np.diff(drawn) >= 0).all()
    assert drawn[-1] < 10 * SECOND


def test_steps_follow_each_other() -> None:
    steps = StepsLoadScheduler([{"rate": 100, "seconds": 1}, {"rate": 300, "seconds": 2}])
    drawn = draw(steps, 0, None, None)
    assert np.bincount(drawn // SECOND).tolist() == [100, 300, 300]
    with pytest.raises(ValueError, match=r"steps\[1\] must have rate and seconds"):
        StepsLoadScheduler([{"rate": 1, "seconds": 1}, {"rate": 1}])


def test_a_duration_and_a_count_both_bound() -> None:
    assert draw(ConstantLoadScheduler(100), 0, 50, 10 * SECOND).size == 50
    assert draw(ConstantLoadScheduler(100), 0, 5000, SECOND).size == 100


@pytest.mark.parametrize(
    ("scheduler", "words"), [(PoissonLoadScheduler(1), "never ends"), (OfflineLoadScheduler(), "once")]
)
def test_an_endless_schedule_is_refused(scheduler: PoissonLoadScheduler, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        draw(scheduler, 0, None, None)


@pytest.mark.parametrize("kind", [OfflineLoadScheduler, PoissonLoadScheduler, ConstantLoadScheduler])
def test_rate_0_is_as_fast_as_it_goes(kind: Any) -> None:
    scheduler = kind(rate=0)
    assert scheduler.rate is None
    assert draw(scheduler, 0, 10, None).tolist() == [0] * 10
    assert scheduler.ends(counted=True, timed=False)
    assert not scheduler.ends(counted=False, timed=True)


@pytest.mark.parametrize("rate", [-1, float("nan")])
@pytest.mark.parametrize("kind", [OfflineLoadScheduler, PoissonLoadScheduler, ConstantLoadScheduler])
def test_a_rate_must_not_be_negative(kind: Any, rate: float) -> None:
    with pytest.raises(ValueError, match="rate must be greater than 0, or 0 for as fast as it goes, not"):
        kind(rate)


def test_bursts_need_a_rate() -> None:
    with pytest.raises(ValueError, match="rate must be greater than 0"):
        GammaLoadScheduler(0)


def test_a_closed_loop_draws_nothing() -> None:
    single = SingleStreamLoadScheduler()
    assert single.concurrency == 1
    assert list(single.arrivals(np.random.default_rng())) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("trace.txt", "10.0\n10.5\n\n12\n"),
        ("trace.csv", "id,timestamp\na,10.0\nb,10.5\nc,12\n"),
        ("trace.jsonl", '{"timestamp": 10}\n{"timestamp": 10.5, "x": 1}\n{"timestamp": 12}\n'),
    ],
)
def test_a_trace_is_replayed(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    drawn = draw(TraceLoadScheduler(str(tmp_path / name), speed=2), 0, None, None)
    assert drawn.tolist() == [0, SECOND // 4, SECOND]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.txt", "1\nlater\n", "t.txt:2: 'later' is not a time"),
        ("t.txt", "2\n1\n", "t.txt:2: .*sort the trace"),
        ("t.txt", "nan\n", "t.txt:1"),
        ("t.txt", "\n", "no queries"),
        ("t.csv", "a,b\n1,2\n", "unknown column 'timestamp'"),
        ("t.jsonl", '{"timestamp": 1}\n[]\n', "t.jsonl:2"),
    ],
)
def test_a_broken_trace_says_where(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=words):
        draw(TraceLoadScheduler(str(tmp_path / name)), 0, None, None)


def test_a_missing_trace_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        draw(TraceLoadScheduler(str(tmp_path / "none.txt")), 0, None, None)
