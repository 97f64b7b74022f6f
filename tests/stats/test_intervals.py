import numpy as np
import pytest
import scipy.stats

from assay.stats.intervals import Interval, bootstrap, mean, median, quantile_interval, share_interval


def test_bca_agrees_with_scipy() -> None:
    sample = np.random.default_rng(1).lognormal(0, 0.5, 60)
    ours = bootstrap(sample, mean, resamples=20_000)
    theirs = scipy.stats.bootstrap(
        (sample,), np.mean, method="BCa", n_resamples=20_000, rng=np.random.default_rng(5)
    ).confidence_interval
    assert ours.low == pytest.approx(theirs.low, rel=0.01)
    assert ours.high == pytest.approx(theirs.high, rel=0.01)


@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_coverage_of_a_skewed_mean(method: str) -> None:
    rng = np.random.default_rng(2)
    covered = sum(
        not bootstrap(rng.exponential(1, 40), mean, resamples=500, method=method, seed=trial).excludes(1.0)  # type: ignore[arg-type]
        for trial in range(400)
    )
    assert 0.89 < covered / 400 < 0.98


def test_the_same_sample_gives_the_same_interval() -> None:
    assert bootstrap([1, 2, 3, 4, 9]) == bootstrap([1, 2, 3, 4, 9])


def test_one_value_says_nothing_about_its_spread() -> None:
    assert bootstrap([3.0]) == Interval(3.0, -np.inf, np.inf, 0.95)


def test_nan_is_no_data() -> None:
    with pytest.raises(ValueError, match="NaN"):
        bootstrap([1.0, float("nan")])


@pytest.mark.parametrize("quantile", [0.5, 0.9])
def test_quantile_interval_covers(quantile: float) -> None:
    rng = np.random.default_rng(6)
    truth = -np.log(1 - quantile)
    missed = sum(quantile_interval(rng.exponential(1, 80), quantile).excludes(truth) for _ in range(1000))
    assert missed <= 70


def test_a_tail_beyond_the_sample_is_unbounded() -> None:
    interval = quantile_interval(np.arange(100), 0.99)
    assert interval.high == np.inf
    assert interval.low > 90


def test_median_reduces_the_last_axis() -> None:
    assert median(np.array([[1.0, 5.0, 2.0], [0.0, 0.0, 9.0]])).tolist() == [2.0, 0.0]


@pytest.mark.parametrize(("found", "of"), [(5, 40), (0, 30), (30, 30), (1, 1), (700, 1000)])
def test_the_interval_of_a_share_is_that_of_clopper_and_pearson(found: int, of: int) -> None:
    theirs = scipy.stats.binomtest(found, of).proportion_ci(method="exact")
    ours = share_interval(found, of)
    assert ours.estimate == found / of
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
