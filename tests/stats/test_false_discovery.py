import numpy as np
import pytest
import scipy.stats

from assay.stats.false_discovery import adjusted, counted


def test_agrees_with_scipy() -> None:
    p = np.random.default_rng(0).random(50) ** 3
    assert adjusted(list(p)) == pytest.approx(list(scipy.stats.false_discovery_control(p)))


def test_one_question_is_not_adjusted() -> None:
    assert adjusted([0.03]) == [0.03]
    assert adjusted([]) == []


def test_a_p_without_spikes_counts_more_the_more_rows_there_are() -> None:
    assert counted(0.001, 0, 200) == counted(0.001, 1, 1) == 0.001
    assert counted(0.001, 2, 2) == 0.002
    assert counted(0.001, 1, 200) == 0.01
    assert counted(0.5, 1, 200) == 1.0
