import pytest
import scipy.stats

from assay.stats.intervals import binomial_at_most, normal_two_sided_p, t_quantile, t_two_sided_p


@pytest.mark.parametrize("df", [1, 2.5, 9, 59, 10_000])
@pytest.mark.parametrize("probability", [0.001, 0.4, 0.975, 0.9995])
def test_t_quantile_agrees_with_scipy(probability: float, df: float) -> None:
    assert t_quantile(probability, df) == pytest.approx(scipy.stats.t.ppf(probability, df), rel=1e-7)


@pytest.mark.parametrize("t", [0.0, 0.3, -2.2, 12.0])
def test_t_p_agrees_with_scipy(t: float) -> None:
    assert t_two_sided_p(t, 7) == pytest.approx(2 * scipy.stats.t.sf(abs(t), 7), rel=1e-9)


@pytest.mark.parametrize(("k", "n", "p"), [(0, 459, 0.01), (5, 100, 0.1), (1000, 100_000, 0.01), (50, 60, 0.5)])
def test_binomial_agrees_with_scipy(k: int, n: int, p: float) -> None:
    assert binomial_at_most(k, n, p) == pytest.approx(scipy.stats.binom.cdf(k, n, p), rel=1e-7)


def test_normal_p_agrees_with_scipy() -> None:
    assert normal_two_sided_p(-2.5) == pytest.approx(2 * scipy.stats.norm.sf(2.5))
