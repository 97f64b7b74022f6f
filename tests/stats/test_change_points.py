import numpy as np
import pytest
import ruptures

from assay.stats.change_points import find_changes
from assay.stats.segmentation import segment


def _series(
    rng: np.random.Generator, step: float = 0.0, phi: float = 0.0, noise: float = 0.02, n: int = 120
) -> np.ndarray:
    fresh = rng.normal(0, noise * np.sqrt(1 - phi**2), n)
    logs = np.zeros(n)
    for i in range(n):
        logs[i] = fresh[i] + (phi * logs[i - 1] if i else 0)
    logs[n - 10 :] += np.log1p(step)
    return np.exp(logs)


def test_the_segmentation_is_the_one_ruptures_finds() -> None:
    rng = np.random.default_rng(0)
    for trial in range(60):
        logs = np.log(_series(rng, step=0.05 * (trial % 3)))
        price = 3 * 0.02**2 * np.log(logs.size)
        theirs = ruptures.KernelCPD(kernel="linear", min_size=5).fit(logs.reshape(-1, 1)).predict(pen=price)
        assert [*segment(logs, price), logs.size] == theirs


def test_a_step_is_found_where_it_is() -> None:
    changes = find_changes(_series(np.random.default_rng(1), step=0.10))
    assert len(changes) == 1
    assert abs(changes[0].index - 110) <= 2
    assert changes[0].ratio == pytest.approx(1.10, abs=0.03)
    assert changes[0].after / changes[0].before == pytest.approx(changes[0].ratio)


def test_drift_is_not_a_change() -> None:
    rng = np.random.default_rng(2)
    assert sum(len(find_changes(_series(rng, phi=0.6))) for _ in range(150)) <= 12


def test_most_small_steps_are_found() -> None:
    rng = np.random.default_rng(3)
    found = sum(any(abs(c.index - 110) <= 3 for c in find_changes(_series(rng, step=0.05))) for _ in range(100))
    assert found >= 85


def test_one_spike_is_not_a_change() -> None:
    series = _series(np.random.default_rng(4))
    series[60] *= 3
    assert find_changes(series) == []


def test_a_change_below_the_floor_is_not_reported() -> None:
    series = np.where(np.arange(100) < 50, 1.0, 1.015) * np.exp(np.random.default_rng(5).normal(0, 1e-4, 100))
    assert find_changes(series) == []
    assert len(find_changes(series, floor=0.01)) == 1


def test_a_series_without_noise_has_exact_changes() -> None:
    assert [c.index for c in find_changes([1.0] * 20 + [2.0] * 20)] == [20]
    assert find_changes([1.0] * 40) == []


def test_short_series_and_bad_values() -> None:
    assert find_changes([1.0, 2.0, 3.0]) == []
    with pytest.raises(ValueError, match="positive"):
        find_changes([1.0] * 20 + [0.0])
