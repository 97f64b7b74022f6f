from __future__ import annotations

import numpy as np

from assay.stats.nightly import nights, watch


def alarms(values: np.ndarray, begin: int) -> list[int]:
    return [at for at, night in enumerate(nights(values), 10) if night.alarm and at >= begin]


def test_a_year_of_quiet_nights_has_hardly_an_alarm() -> None:
    rng = np.random.default_rng(21)
    assert sum(len(alarms(rng.normal(0, 0.02, 150), 30)) for _ in range(12)) <= 1


def test_ten_per_cent_are_told_within_three_nights_and_once() -> None:
    rng = np.random.default_rng(22)
    told = []
    for _ in range(40):
        series = rng.normal(0, 0.02, 60)
        series[40:] += np.log(1.1)
        told.append(alarms(series, 40))
    assert sum(bool(found) and found[0] <= 42 for found in told) >= 37
    assert sum(len(found) == 1 for found in told) >= 37


def test_an_old_step_does_not_hide_a_new_one() -> None:
    series = np.random.default_rng(23).normal(0, 0.02, 80)
    series[30:] += np.log(1.2)
    series[70:] += np.log(1.1)
    told = alarms(series, 20)
    assert any(30 <= at <= 32 for at in told)
    assert any(70 <= at <= 73 for at in told)
    assert len(told) <= 3


def test_a_second_mode_that_comes_and_goes_is_no_change() -> None:
    rng = np.random.default_rng(24)
    series = rng.normal(0, 0.01, 200) + 0.08 * (rng.random(200) < 0.5)
    assert alarms(series, 30) == []


def test_constant_nights_and_the_first_ones() -> None:
    assert not watch(np.zeros(1)).alarm
    assert not watch(np.zeros(40)).alarm
    assert watch(np.append(np.zeros(40), [0.2, 0.2])).alarm
    assert watch(np.append(np.zeros(40), [0.2])).side == 1


def test_the_farthest_nights_of_a_second_mode_are_no_change() -> None:
    """Two modes that are drawn anew each night: one that goes a little farther than all before it is no new level."""
    rng = np.random.default_rng(8)
    for share, apart in ((0.3, 0.15), (0.5, 0.35)):
        values = rng.normal(0, 0.01, (600, 32)) + apart * (rng.random((600, 32)) < share)
        assert sum(watch(nights).alarm for nights in values) <= 9, (share, apart)


def test_the_last_night_is_the_same_whether_or_not_those_before_are_told() -> None:
    """The walk to it leaves out what near nights do not need."""
    rng = np.random.default_rng(25)
    for size in (1, 2, 9, 11, 130, 400):
        for noise in (0.004, 0.02, 0.08):
            series = np.round(rng.normal(0, noise, size), 3)
            series[size // 2 :] += rng.choice([0.0, 0.2, -0.1])
            told = list(nights(series))
            assert not told or watch(series) == told[-1]
