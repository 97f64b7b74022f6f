"""Ratios and their intervals, on data whose ratio is known."""

from __future__ import annotations

import numpy as np
import pytest

from assay.loadgen.colocation.round_ratio import RoundRatio, ratio_of_quantiles, ratio_of_sums
from assay.loadgen.colocation.slowdown import Slowdown, combine

TRUE = 2.0
RUNS = 300
# 95% is promised: 285 of 300 on the average, and fewer than 270 would be four standard deviations below.
LEAST = 0.90


def costs(rng: np.random.Generator, count: int, drift: float) -> np.ndarray:
    """Seconds of queries whose noise lasts for some of them, on a machine that has its own speed in this run."""
    noise = np.convolve(rng.normal(0, 0.3, count + 9), np.ones(10) / 10**0.5, "valid")
    return np.exp(noise + rng.normal(0, drift))


def round_of(rng: np.random.Generator, drift: float, count: int = 400) -> RoundRatio:
    work = rng.lognormal(0, 0.5, count)
    alone, beside = work * costs(rng, count, drift), TRUE * work * costs(rng, count, drift)
    return ratio_of_sums(alone.reshape(20, -1).sum(axis=1), beside.reshape(20, -1).sum(axis=1))


def share_that_hold(rounds: list[list[RoundRatio]]) -> float:
    intervals = [combine(one) for one in rounds]
    return float(np.mean([interval.low <= TRUE <= interval.high for interval in intervals]))


def test_an_interval_of_one_round_holds_what_its_parts_differ_by() -> None:
    rng = np.random.default_rng(1)
    rounds = [[round_of(rng, drift=0.0)] for _ in range(RUNS)]
    assert share_that_hold(rounds) >= LEAST
    widths = [combine(one).half_width for one in rounds]
    assert np.median(widths) < 0.35, "and is no wider than it must be"


@pytest.mark.parametrize("count", [2, 3, 5])
def test_an_interval_of_several_rounds_holds_what_rounds_differ_by(count: int) -> None:
    rng = np.random.default_rng(count)
    rounds = [[round_of(rng, drift=0.1) for _ in range(count)] for _ in range(RUNS)]
    assert share_that_hold(rounds) >= LEAST


def test_the_parts_of_one_round_do_not_tell_what_rounds_differ_by() -> None:
    """Why rounds are asked for, and why an interval of one says so."""
    rng = np.random.default_rng(7)
    assert share_that_hold([[round_of(rng, drift=0.2)] for _ in range(RUNS)]) < 0.7


@pytest.mark.parametrize(("share", "count"), [(0.5, 100), (0.99, 200), (0.99, 600)])
def test_percentiles_of_few_queries_have_honest_intervals(share: float, count: int) -> None:
    rng = np.random.default_rng(count)
    held = []
    for _ in range(RUNS):
        alone, beside = (rng.exponential(scale, count).astype(np.int64) for scale in (1e6, TRUE * 1e6))
        interval = combine([ratio_of_quantiles(alone, beside, share, 20)])
        held.append(interval.low <= TRUE <= interval.high)
    assert np.mean(held) >= LEAST


def test_two_rounds_that_agree_by_chance_prove_little() -> None:
    alike = [RoundRatio(1.0, 2.0, 0.05, 20), RoundRatio(1.0, 2.0, 0.05, 20)]
    assert combine(alike).half_width > 0.05


def test_what_cannot_be_told_is_neither_slower_nor_faster() -> None:
    def told(ratio: float) -> bool | None:
        return Slowdown("throughput", None, (RoundRatio(1.0, ratio, 0.05, 20),)).slower

    assert [told(ratio) for ratio in (1.05, 1.5, 0.5)] == [None, True, False]
    nothing = Slowdown("p99", None, (), "12 queries can be compared, 100 are needed")
    assert (nothing.slower, nothing.interval, nothing.alone) == (None, None, None)


def test_the_figures_of_both_sides_are_in_the_ratio_that_is_told() -> None:
    found = Slowdown("mean", 1, (RoundRatio(10.0, 20.0, 0.01, 20), RoundRatio(20.0, 30.0, 0.01, 20)))
    assert found.interval is not None
    assert found.interval.estimate == pytest.approx(found.beside / found.alone)  # type: ignore[operator]
