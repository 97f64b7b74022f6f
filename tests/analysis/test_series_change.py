from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest

import assay.analysis
from assay.analysis import Verdict, change_points
from assay.errors import UsageError

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
    with pytest.raises(UsageError, match="better should be 'higher', 'lower' or None, is 'more'"):
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
        with pytest.raises(UsageError, match=message):
            change_points(STEP, times)


def test_any_kind_of_sequence_will_do() -> None:
    series = pandas.Series(STEP, index=range(100, 130))
    for values in (tuple(STEP), iter(STEP), np.array(STEP, dtype=np.float32), series, series.astype("Int64")):
        assert [change.index for change in change_points(values)] == [20]
    days = pandas.Series(pandas.date_range("2026-01-01", periods=30), index=range(100, 130))
    assert [str(change.time)[:10] for change in change_points(series, days)] == ["2026-01-21"]


@pytest.mark.parametrize(
    ("values", "times", "message"),
    [
        (["a", 1.0], None, r"values\[0\] is 'a' \(str\), not a number"),
        (np.ones((9, 2)), None, r"values\[0\] is .* \(ndarray\), not a number"),
        (None, None, "values is None"),
        ({1.0: 2.0}, None, "no order"),
        (STEP, 5, "times is 5: give one time a value"),
        (STEP, [None] * 30, r"times\[0\] and times\[1\] cannot be ordered"),
        (STEP, [1] * 15 + ["b"] * 15, r"times\[14\] and times\[15\] cannot be ordered"),
    ],
)
def test_what_is_no_series_is_said_so(values: Any, times: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        change_points(values, times)
