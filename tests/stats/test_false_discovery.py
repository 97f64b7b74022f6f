import numpy as np
import pytest
import scipy.stats

from assay.stats.shift import adjust, count_among


def test_agrees_with_scipy() -> None:
    p = np.random.default_rng(0).random(50) ** 3
    assert adjust(list(p)) == pytest.approx(list(scipy.stats.false_discovery_control(p)))


def test_one_question_is_not_adjusted() -> None:
    assert adjust([0.03]) == [0.03]
    assert adjust([]) == []


def test_a_p_without_spikes_counts_more_the_more_rows_there_are() -> None:
    assert count_among(0.001, 0, 200) == count_among(0.001, 1, 1) == 0.001
    assert count_among(0.001, 2, 2) == 0.002
    assert count_among(0.001, 1, 200) == 0.01
    assert count_among(0.5, 1, 200) == 1.0
