import numpy as np
import pytest
import scipy.stats

from assay.stats.false_discovery import adjusted


def test_agrees_with_scipy() -> None:
    p = np.random.default_rng(0).random(50) ** 3
    assert adjusted(list(p)) == pytest.approx(list(scipy.stats.false_discovery_control(p)))


def test_one_question_is_not_adjusted() -> None:
    assert adjusted([0.03]) == [0.03]
    assert adjusted([]) == []
