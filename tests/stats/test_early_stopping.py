import numpy as np
import pytest

from assay.stats.early_stopping import min_passing, relative_error, tail_estimate, within_bound


def test_the_published_counts() -> None:
    """Floors that LoadGen prints: p99 without a query over 459; single stream p90 64, p99 662."""
    assert min_passing(0, 0.99) == 459
    assert min_passing(1, 0.90) + 1 == 64
    assert min_passing(1, 0.99) + 1 == 662


def test_server_rule_flips_exactly_at_the_count() -> None:
    needed = min_passing(3, 0.99) + 3
    assert within_bound(3, needed, 0.99)
    assert not within_bound(3, needed - 1, 0.99)


def test_too_few_queries_give_no_estimate_but_say_how_many() -> None:
    estimate = tail_estimate(np.arange(1, 101), 0.99)
    assert not estimate.met
    assert estimate.needed == 662
    assert relative_error(estimate, np.arange(1, 101)) == np.inf


@pytest.mark.parametrize("percentile", [0.9, 0.99])
def test_estimate_covers_the_true_percentile_with_the_promised_confidence(percentile: float) -> None:
    rng = np.random.default_rng(3)
    truth = -np.log(1 - percentile)
    trials = 1000
    low = sum((tail_estimate(rng.exponential(1, 900), percentile).estimate or 0.0) < truth for _ in range(trials))
    # 1% promised; the 0.1% point of a binomial with 1000 trials is 21.
    assert low <= 21


def test_more_queries_bring_the_estimate_nearer() -> None:
    rng = np.random.default_rng(4)
    few, many = rng.exponential(1, 1000), rng.exponential(1, 100_000)
    assert relative_error(tail_estimate(many, 0.99), many) < relative_error(tail_estimate(few, 0.99), few)


def test_a_percentile_outside_its_range_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        min_passing(0, 1.0)
