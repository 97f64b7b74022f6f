import numpy as np
import pytest
import scipy.stats

from assay.stats.fits import fit_power_law, parallel_efficiency


def test_the_fit_is_the_line_scipy_finds() -> None:
    rng = np.random.default_rng(0)
    sizes = np.logspace(1, 5, 12)
    costs = 3e-4 * sizes**1.37 * rng.lognormal(0, 0.05, 12)
    ours, theirs = fit_power_law(sizes, costs), scipy.stats.linregress(np.log(sizes), np.log(costs))
    assert ours.exponent == pytest.approx(theirs.slope)
    assert ours.r_squared == pytest.approx(theirs.rvalue**2)
    assert ours.high - ours.exponent == pytest.approx(scipy.stats.t.ppf(0.975, 10) * theirs.stderr)
    assert ours.predict(1000) == pytest.approx(np.exp(theirs.intercept) * 1000**theirs.slope)


def test_the_interval_covers_the_true_exponent() -> None:
    rng = np.random.default_rng(1)
    sizes = np.logspace(2, 6, 6)
    fits = [fit_power_law(sizes, sizes**1.1 * rng.lognormal(0, 0.1, 6)) for _ in range(500)]
    missed = sum(fit.grows_faster_than(1.1) or fit.grows_slower_than(1.1) for fit in fits)
    assert missed <= 45


def test_two_points_give_a_slope_and_no_certainty() -> None:
    fit = fit_power_law([10, 1000], [1, 10])
    assert fit.exponent == pytest.approx(0.5)
    assert not fit.grows_faster_than(0.0)
    assert not fit.grows_slower_than(5.0)


@pytest.mark.parametrize(
    ("sizes", "costs", "message"),
    [([1, 2], [1], "2 sizes but 1"), ([1, 0], [1, 2], "positive"), ([5, 5], [1, 2], "two different")],
)
def test_what_has_no_power_law_says_why(sizes: list[float], costs: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_power_law(sizes, costs)


def test_efficiency_is_the_share_of_ideal_speed_up() -> None:
    assert parallel_efficiency([1, 2, 4], [100, 180, 300]) == pytest.approx(0.75)
