from __future__ import annotations

from typing import Any

import pytest

import assay.analysis
from assay.analysis import Verdict, change_points

STEP = [1.0] * 20 + [2.0] * 10


def test_anybodys_numbers() -> None:
    [change] = change_points(STEP)
    assert (change.index, change.earliest, change.latest) == (20, 20, 20)
    assert (change.before, change.after, change.ratio) == (1.0, 2.0, 2.0)
    assert (change.verdict, change.time) == (None, None)
    assert assay.analysis.change_points is change_points


def test_a_direction_gives_a_verdict() -> None:
    assert [change.verdict for change in change_points(STEP, better="lower")] == [Verdict.REGRESSED]
    assert [change.verdict for change in change_points(STEP, better="higher")] == [Verdict.IMPROVED]
    back = change_points([0] * 20 + [5] * 20 + [0] * 20, better="lower")
    assert [(change.ratio, str(change.verdict)) for change in back] == [(None, "regressed"), (0.0, "improved")]
    with pytest.raises(ValueError, match="better should be 'higher', 'lower' or None, is 'more'"):
        change_points(STEP, better="more")  # type: ignore[arg-type]


def test_missing_values_keep_the_numbers_of_the_rest() -> None:
    values: list[float | None] = [1.0] * 10 + [None, float("nan")] + [1.0] * 10 + [float("inf")] + [2.0] * 10
    [change] = change_points(values)
    assert (change.index, change.earliest, change.latest) == (23, 23, 23)


def test_times_are_handed_through_and_must_fit() -> None:
    days = [f"2026-01-{day:02d}" for day in range(1, 31)]
    assert [change.time for change in change_points(STEP, days)] == ["2026-01-21"]
    wrong: list[tuple[list[Any], str]] = [
        (days[:-1], "29 times for 30 values"),
        ([*days[:4], days[9], *days[5:]], r"times\[5\] is before times\[4\]; sort"),
    ]
    for times, message in wrong:
        with pytest.raises(ValueError, match=message):
            change_points(STEP, times)
