from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import ruptures

from assay.stats.changes import LevelChange, find_changes, level_since, segment


def _noise(rng: np.random.Generator, n: int = 120, sigma: float = 0.02, phi: float = 0.0) -> np.ndarray:
    fresh = rng.normal(0, sigma * np.sqrt(1 - phi**2), n)
    logs = np.zeros(n)
    logs[0] = rng.normal(0, sigma)
    for i in range(1, n):
        logs[i] = fresh[i] + phi * logs[i - 1]
    return logs


def _steps(n: int, *steps: tuple[int, float]) -> np.ndarray:
    """Each step: from which value on, times which factor."""
    logs = np.zeros(n)
    for start, factor in steps:
        logs[start:] += np.log(factor)
    return logs


def _found(changes: Sequence[LevelChange], truth: Sequence[int], within: int = 2) -> bool:
    return len(changes) == len(truth) and all(
        abs(change.index - at) <= within for change, at in zip(changes, truth, strict=True)
    )


def _share(steps: np.ndarray, truth: Sequence[int], sigma: float, seed: int, trials: int = 60) -> float:
    rng = np.random.default_rng(seed)
    return float(
        np.mean([_found(find_changes(np.exp(steps + _noise(rng, steps.size, sigma))), truth) for _ in range(trials)])
    )


@pytest.mark.parametrize("min_size", [3, 5])
def test_the_segmentation_is_the_one_ruptures_finds(min_size: int) -> None:
    rng = np.random.default_rng(0)
    for trial in range(60):
        logs = _steps(120, (110, 1 + 0.05 * (trial % 3))) + _noise(rng)
        price = 3 * 0.02**2 * np.log(logs.size)
        theirs = ruptures.KernelCPD(kernel="linear", min_size=min_size).fit(logs.reshape(-1, 1)).predict(pen=price)
        assert [*segment(logs, price, min_size), logs.size] == theirs


def test_a_step_is_found_where_it_is() -> None:
    [change] = find_changes(np.exp(_steps(120, (110, 1.1)) + _noise(np.random.default_rng(1))))
    assert abs(change.index - 110) <= 2
    assert change.earliest <= 110 <= change.latest
    assert change.ratio == pytest.approx(1.10, abs=0.03)
    assert change.after / change.before == pytest.approx(change.ratio)


def test_a_step_that_goes_back_is_two_changes() -> None:
    assert _share(_steps(120, (50, 1.1), (70, 1 / 1.1)), (50, 70), 0.01, seed=11) >= 0.95
    assert _share(_steps(120, (40, 1.5), (80, 1 / 1.5)), (40, 80), 0.05, seed=12) >= 0.95


def test_two_steps_close_together_are_both_found() -> None:
    assert _share(_steps(120, (50, 1.1), (70, 1.1)), (50, 70), 0.01, seed=13) >= 0.95


def test_six_steps_in_a_year_are_found() -> None:
    steps = _steps(365, (40, 1.06), (90, 1 / 1.1), (150, 1.05), (200, 1.15), (260, 1 / 1.08), (330, 1.07))
    assert _share(steps, (40, 90, 150, 200, 260, 330), 0.01, seed=14, trials=20) >= 0.95


@pytest.mark.parametrize("behind", [3, 4])
def test_a_clear_step_is_placed_rightly_with_few_values_behind_it(behind: int) -> None:
    rng = np.random.default_rng(15)
    at = 120 - behind
    for _ in range(40):
        [change] = find_changes(np.exp(_steps(120, (at, 1.2)) + _noise(rng)))
        assert change.index == at


def test_one_or_two_values_at_the_end_are_no_change_yet() -> None:
    rng = np.random.default_rng(16)
    for behind in (1, 2):
        series = [np.exp(_steps(60, (60 - behind, 1.5)) + _noise(rng, 60)) for _ in range(40)]
        found = [change for values in series for change in find_changes(values)]
        assert len(found) <= 1
        assert all(change.index < 60 - behind and change.after < 1.2 for change in found)


def test_the_range_holds_the_truth_and_is_narrow() -> None:
    rng = np.random.default_rng(17)
    holds, widths = 0, []
    for _ in range(200):
        changes = find_changes(np.exp(_steps(120, (60, 1.05)) + _noise(rng)))
        near = min(changes, key=lambda change: abs(change.index - 60))
        assert near.earliest <= near.index <= near.latest
        holds += near.earliest <= 60 <= near.latest
        widths.append(near.latest - near.earliest + 1)
    assert holds >= 190
    assert np.median(widths) <= 5
    sure = [find_changes(np.exp(_steps(120, (60, 1.1)) + _noise(rng)))[0] for _ in range(50)]
    assert np.median([change.latest - change.earliest + 1 for change in sure]) <= 3


def test_a_spike_beside_a_step_widens_its_range() -> None:
    logs = _steps(120, (60, 1.2)) + _noise(np.random.default_rng(18), sigma=0.01)
    logs[59] += 1.0
    [change] = find_changes(np.exp(logs))
    assert (change.earliest, change.latest) == (59, 60)


def test_noise_and_drift_are_no_changes() -> None:
    rng = np.random.default_rng(2)
    normal = [find_changes(np.exp(_noise(rng))) for _ in range(100)]
    drift = [find_changes(np.exp(_noise(rng, phi=0.6))) for _ in range(100)]
    skewed = [find_changes(1 + 0.02 * rng.lognormal(0, 1, 120)) for _ in range(100)]
    slow = (np.where(rng.random(120) < 0.3, 1.08, 1) for _ in range(100))
    modes = [find_changes(np.exp(_noise(rng, sigma=0.01)) * factor) for factor in slow]
    assert sum(map(len, normal)) <= 2
    assert max(sum(map(len, drift)), sum(map(len, skewed)), sum(map(len, modes))) <= 9


def test_most_small_steps_are_found() -> None:
    rng = np.random.default_rng(3)
    steps = _steps(120, (110, 1.05))
    found = [any(abs(c.index - 110) <= 3 for c in find_changes(np.exp(steps + _noise(rng)))) for _ in range(100)]
    assert sum(found) >= 85


def test_lone_spikes_are_no_changes() -> None:
    noisy = np.exp(_noise(np.random.default_rng(4)))
    for at in (0, 1, 60, 118, 119):
        noisy[at] *= 3
        assert find_changes(noisy) == []
        constant = np.ones(60)
        constant[at // 2] = 2.0
        assert find_changes(constant) == []


def test_steps_to_and_from_zero() -> None:
    rng = np.random.default_rng(5)
    [errors] = find_changes([0] * 30 + [5] * 10)
    assert (errors.index, errors.before, errors.after, errors.ratio) == (30, 0, 5, None)
    stopped = [*(1000 * np.exp(_noise(rng, 40))), *[0.0] * 5]
    [change] = find_changes(stopped)
    assert (change.index, change.earliest, change.latest, change.ratio) == (40, 40, 40, 0)
    assert [c.index for c in find_changes([*stopped, *(1000 * np.exp(_noise(rng, 40)))])] == [40, 45]
    assert [c.index for c in find_changes([*rng.poisson(0.1, 60), *rng.poisson(12, 20)])] == [60]


def test_negative_values() -> None:
    rng = np.random.default_rng(6)
    [change] = find_changes([*rng.normal(-5, 0.2, 40), *rng.normal(-7, 0.2, 20)])
    assert change.index == 40
    [change] = find_changes([*rng.normal(-1, 0.2, 40), *rng.normal(1, 0.2, 20)])
    assert change.index == 40


def test_rare_events_are_no_changes() -> None:
    rng = np.random.default_rng(7)
    assert sum(len(find_changes(rng.poisson(rate, 120))) for rate in (0.05, 0.1, 0.3, 1, 3) for _ in range(30)) <= 8


def test_a_part_that_is_noisier_makes_no_changes_of_its_own() -> None:
    rng = np.random.default_rng(9)
    both = [find_changes(np.exp(rng.normal(0, np.where(np.arange(120) < 60, 0.01, 0.05)))) for _ in range(60)]
    assert sum(map(len, both)) <= 8
    errors = [find_changes([*[0] * 80, *rng.poisson(5, 40)]) for _ in range(60)]
    assert sum(any(c.earliest <= 80 <= c.latest for c in found) for found in errors) >= 57
    assert sum(len(found) - 1 for found in errors) <= 20


def test_a_change_below_the_floor_is_not_reported() -> None:
    series = np.where(np.arange(100) < 50, 1.0, 1.015) * np.exp(np.random.default_rng(5).normal(0, 1e-4, 100))
    assert find_changes(series) == []
    assert len(find_changes(series, floor=0.01)) == 1
    assert find_changes([-100] * 30 + [-101] * 30) == []


def test_a_series_without_noise_has_exact_changes() -> None:
    [change] = find_changes([1.0] * 20 + [2.0] * 20)
    assert (change.index, change.earliest, change.latest) == (20, 20, 20)
    assert find_changes([1.0] * 40) == []


def test_short_series_and_bad_values() -> None:
    assert find_changes([]) == []
    assert find_changes([1.0, 2.0, 3.0]) == []
    with pytest.raises(ValueError, match="NaN"):
        find_changes([1.0] * 20 + [float("nan")])


def test_the_current_level_begins_at_the_last_confirmed_change() -> None:
    steps = _steps(100, (40, 1.1), (80, 1.1))
    logs = steps + _noise(np.random.default_rng(8), 100, 0.01)
    assert level_since(np.exp(logs[:30])) == 0
    since = [level_since(np.exp(logs[:size])) for size in range(30, 101)]
    assert sorted(set(since)) == [0, 40, 80]
    assert since == sorted(since), "one more value never takes a confirmed change back here"
    assert since[-1] == 80
    assert since[80 - 30 + 4] == 40, "four values behind a step do not confirm it"
