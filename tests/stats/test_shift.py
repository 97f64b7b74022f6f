import numpy as np
import pytest

from assay.stats.robust import location, spread
from assay.stats.shift import level_shift, paired_shift, unpaired_shift

MARGIN = np.log(1.03)


def _called(shift: object, margin: float = MARGIN) -> int:
    beyond = max(margin, shift.floor)  # type: ignore[attr-defined]
    return int(shift.low > 0 and shift.estimate > beyond) - int(shift.high < 0 and shift.estimate < -beyond)  # type: ignore[attr-defined]


def test_identical_code_is_not_called_different_at_any_noise() -> None:
    rng = np.random.default_rng(0)
    for noise in (0.01, 0.02, 0.05):
        alarms = sum(_called(paired_shift(*rng.normal(0, noise, (2, 10)))) != 0 for _ in range(800))
        # 1% of 800 is 8; the 0.1% point of that binomial is 18.
        assert alarms <= 18, noise


def test_five_per_cent_is_found_with_ten_pairs_at_two_per_cent_noise() -> None:
    rng = np.random.default_rng(1)
    runs = rng.normal(0, 0.02, (400, 2, 10))
    found = sum(_called(paired_shift(a, b + np.log1p(0.05))) == 1 for a, b in runs)
    assert found >= 376


def test_what_happens_to_both_of_a_pair_does_not_count() -> None:
    rng = np.random.default_rng(2)
    together = rng.normal(0, 0.2, 10)
    a, b = together + rng.normal(0, 0.005, 10), together + rng.normal(0, 0.005, 10) + 0.04
    shift = paired_shift(a, b)
    assert shift.low < 0.04 < shift.high
    assert shift.high - shift.low < 0.02


def test_a_spike_neither_moves_nor_hides_the_shift() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(0, 0.01, 12), rng.normal(0.05, 0.01, 12)
    spiked = a.copy()
    spiked[4] += 1.0
    plain, mended = paired_shift(a, b), paired_shift(spiked, b)
    assert mended.spikes == 1
    assert mended.estimate == pytest.approx(plain.estimate, abs=0.004)
    assert _called(mended) == 1


def test_the_interval_covers_the_truth() -> None:
    rng = np.random.default_rng(4)
    shifts = [paired_shift(*rng.normal(0, 0.03, (2, 10))) for _ in range(1000)]
    missed = sum(not s.low <= 0 <= s.high for s in shifts)
    assert missed <= 75


def test_equal_runs_are_exactly_equal() -> None:
    same = paired_shift(np.zeros(8), np.zeros(8))
    assert (same.low, same.high, same.p) == (0.0, 0.0, 1.0)
    more = paired_shift(np.zeros(8), np.full(8, 0.1))
    assert (more.low, more.p) == (pytest.approx(0.1), 0.0)


def test_looking_more_often_asks_for_more() -> None:
    a, b = np.random.default_rng(5).normal(0, 0.05, (2, 20))
    assert paired_shift(a, b, looks=6).floor > paired_shift(a, b).floor


def test_unpaired_sides_allow_for_the_drift_between_them() -> None:
    """All of A, then all of B, on a machine whose level wanders: identical code must not be called different."""
    rng = np.random.default_rng(6)
    alarms = 0
    for _ in range(600):
        drift = np.zeros(20)
        for i in range(1, 20):
            drift[i] = 0.9 * drift[i - 1] + rng.normal(0, 0.0354 * np.sqrt(1 - 0.81))
        runs = drift + rng.normal(0, 0.0354, 20)
        alarms += _called(unpaired_shift(runs[:10], runs[10:])) != 0
    assert alarms <= 13


def test_measured_drift_replaces_the_assumed_one() -> None:
    a, b = np.random.default_rng(7).normal(0, 0.05, (2, 10))
    assert (
        unpaired_shift(a, b, between=0.0).floor < unpaired_shift(a, b).floor < unpaired_shift(a, b, between=0.1).floor
    )


def test_one_value_against_its_past() -> None:
    rng = np.random.default_rng(8)
    past = rng.normal(0, 0.02, 30)
    assert _called(level_shift(past, np.array([0.01]))) == 0
    assert _called(level_shift(past, np.array([0.2]))) == 1


def test_biweight_is_the_mean_for_clean_values_and_stays_for_wild_ones() -> None:
    clean = np.random.default_rng(9).normal(5, 1, 200)
    assert location(clean) == pytest.approx(clean.mean(), abs=0.03)
    assert spread(clean) == pytest.approx(clean.std(), rel=0.05)
    wild = np.append(clean, [500.0] * 8)
    assert location(wild) == pytest.approx(clean.mean(), abs=0.05)
    assert spread(wild) == pytest.approx(clean.std(), rel=0.1)
    assert spread(np.ones(5)) == 0.0


def test_a_level_beyond_all_known_ones_by_less_than_its_own_error_is_no_change() -> None:
    past = np.array([0.0] * 18 + [0.08, 0.08])
    spread = np.array([-0.04, -0.02, 0.0, 0.0, 0.02, 0.04])
    assert _called(level_shift(past, 0.085 + spread)) == 0
    assert _called(level_shift(past, 0.25 + spread)) == 1
