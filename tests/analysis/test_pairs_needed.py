from __future__ import annotations

import numpy as np
import pytest

from assay.analysis import Verdict, judge
from assay.analysis.judgement import TRIED, pairs_needed


@pytest.mark.parametrize("noise", ["normal 2%", "normal 5%", "skewed"])
def test_as_many_pairs_as_it_says_are_called_equivalent_on_fresh_data(noise: str) -> None:
    rng = np.random.default_rng(8)

    def draw(count: int) -> np.ndarray:
        if noise == "skewed":
            return np.exp(rng.exponential(0.03, (2, count)))
        return np.exp(rng.normal(0, 0.02 if noise == "normal 2%" else 0.05, (2, count)))

    said = [pairs_needed(*draw(60)) for _ in range(3)]
    shares = []
    for count in said:
        assert count is not None
        fresh = [judge(*draw(count), paired=True).verdict is Verdict.EQUIVALENT for _ in range(200)]
        shares.append(np.mean(fresh))
    assert np.mean(shares) > 0.65, (said, shares)


def test_noise_that_no_number_of_pairs_sees_through_is_said_so() -> None:
    wild = np.exp(np.random.default_rng(9).normal(0, 0.6, (2, 20)))
    assert pairs_needed(*wild) is None


def test_no_noise_needs_the_fewest() -> None:
    assert pairs_needed(np.full(10, 2.0), np.full(10, 2.0)) == TRIED[0]
