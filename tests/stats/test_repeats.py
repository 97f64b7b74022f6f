import numpy as np
import pytest

from assay.stats.shift import plan_repeats


def _pilot(within: float, between: float, seed: int = 0) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    return [list(1 + rng.normal(0, between) + rng.normal(0, within, 50)) for _ in range(2000)]


def test_iterations_follow_the_formula() -> None:
    """√(c₂/c₁ · T₁²/T₂²) = √(10/1 · 0.05²/0.02²) ≈ 7.9."""
    plan = plan_repeats(_pilot(0.05, 0.02), run_cost=10, iteration_cost=1)
    assert 7 <= plan.iterations <= 9
    assert plan.within == pytest.approx(0.05, rel=0.1)
    assert plan.between == pytest.approx(0.02, rel=0.2)


def test_variance_between_runs_asks_for_runs() -> None:
    quiet = plan_repeats(_pilot(0.05, 0.0), run_cost=10, iteration_cost=1)
    noisy = plan_repeats(_pilot(0.05, 0.10), run_cost=10, iteration_cost=1)
    assert noisy.runs > quiet.runs
    assert noisy.iterations < quiet.iterations


def test_a_pilot_of_one_run_is_refused() -> None:
    with pytest.raises(ValueError, match="two runs"):
        plan_repeats([[1.0, 2.0]], run_cost=1, iteration_cost=1)
