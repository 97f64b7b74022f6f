from __future__ import annotations

import math
import sys
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.report.svg.axes import Axis, Tick, linear_ticks, time_ticks

DAY = 86400.0
MARCH = datetime(2026, 3, 1, 2, tzinfo=UTC).timestamp()


def labels(ticks: list[Tick]) -> list[str]:
    return [tick.label for tick in ticks]


def texts(ticks: list[Tick]) -> list[tuple[str, str]]:
    return [(tick.label, tick.under) for tick in ticks]


def sound(ticks: list[Tick]) -> None:
    places = [tick.at for tick in ticks]
    assert all(a < b for a, b in pairwise(places)), places
    assert all(0 <= place <= 1 for place in places)
    assert len(set(texts(ticks))) == len(ticks), texts(ticks)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 10.0, ["0", "2", "4", "6", "8", "10"]),
        (0.0, 1.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (0.1, 0.5, ["0.1", "0.2", "0.3", "0.4", "0.5"]),
        (-3.0, 3.0, ["−2", "0", "2"]),
        (0.0, 250_000.0, ["0", "50,000", "100,000", "150,000", "200,000", "250,000"]),
        (0.0, 5e9, ["0", "1e9", "2e9", "3e9", "4e9", "5e9"]),
        (0.0, 5e-12, ["0", "1e-12", "2e-12", "3e-12", "4e-12", "5e-12"]),
        (1_234_567_890.0, 1_234_567_895.0, [f"1,234,567,89{i}" for i in range(6)]),
    ],
)
def test_ticks_are_round_and_written_as_short_as_they_can_be(low: float, high: float, expected: list[str]) -> None:
    assert labels(linear_ticks(Axis.of([low, high]), 5)) == expected


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@example([-500001.0, -400000000900002.0], 2, False, 0.0)
@given(st.lists(FINITE, min_size=0, max_size=5), st.integers(2, 9), st.booleans(), st.sampled_from([0.0, 0.08]))
def test_any_numbers_give_an_axis_that_holds_them_and_sound_ticks(
    values: list[float], most: int, zero: bool, pad: float
) -> None:
    axis = Axis.of(values, zero=zero, pad=pad)
    ticks = linear_ticks(axis, most)
    sound(ticks)
    assert 1 <= len(ticks) <= most + 1
    assert all(0 <= axis.share(value) <= 1 for value in values)
    ordered = sorted(values)
    assert [axis.share(value) for value in ordered] == sorted(axis.share(value) for value in ordered)
    assert all(math.isfinite(end) for end in axis.ends)


def test_a_tick_stands_where_its_number_is() -> None:
    axis = Axis.of([0.0, 8.0])
    assert [(tick.label, tick.at) for tick in linear_ticks(axis, 4)] == [(str(n), n / 8) for n in (0, 2, 4, 6, 8)]


@pytest.mark.parametrize(
    "values", [[1e300], [sys.float_info.max, -sys.float_info.max], [5e-324], [0.0], [1e15, 1e15 + 0.25], [-7.0, -7.0]]
)
def test_ends_of_what_a_float_holds(values: list[float]) -> None:
    for zero in (True, False):
        axis = Axis.of(values, zero=zero, pad=0.08)
        sound(linear_ticks(axis, 5))
        assert axis.share(max(values)) >= axis.share(min(values))


def test_zero_is_on_the_axis_only_where_asked_and_never_cuts_off_what_is_below() -> None:
    assert Axis.of([5.0, 10.0], zero=True, pad=0.08).ends[0] == 0
    assert Axis.of([5.0, 10.0], pad=0.08).ends == pytest.approx((4.6, 10.4))
    assert Axis.of([-5.0, 10.0], zero=True, pad=0.08).ends == pytest.approx((-6.2, 11.2))


@pytest.mark.parametrize(
    ("start", "span", "expected"),
    [
        (MARCH, 3 * 3600, [("02:00", "1 Mar 2026"), ("03:00", ""), ("04:00", ""), ("05:00", "")]),
        (MARCH, DAY, [(f"{h:02d}:00", f"{d} Mar 2026") for h, d in ((6, 1), (12, 1), (18, 1), (0, 2))]),
        (MARCH, 24 * DAY, [("2 Mar", "2026"), ("9 Mar", ""), ("16 Mar", ""), ("23 Mar", "")]),
        (MARCH, 300 * DAY, [("Apr", "2026"), ("Jul", ""), ("Oct", "")]),
        (MARCH, 400 * DAY, [("Apr", "2026"), ("Jul", "2026"), ("Oct", "2026"), ("Jan", "2027"), ("Apr", "2027")]),
        (MARCH, 5 * 365 * DAY, [("2027", ""), ("2028", ""), ("2029", ""), ("2030", ""), ("2031", "")]),
        (MARCH, 4, [(f"02:00:0{i}", "1 Mar 2026" if i == 0 else "") for i in range(5)]),
        (MARCH, 0.4, [(f"02:00:00.{i}", "1 Mar 2026" if i == 0 else "") for i in range(5)]),
    ],
)
def test_time_is_told_in_steps_of_the_calendar(start: float, span: float, expected: list[tuple[str, str]]) -> None:
    ticks = time_ticks(Axis.of([start, start + span], time=True), 5)
    sound(ticks)
    assert texts(ticks) == expected


@given(st.floats(-1e10, 1e11), st.floats(0, 1e11), st.integers(2, 8))
def test_any_stretch_of_time_has_sound_ticks(start: float, span: float, most: int) -> None:
    ticks = time_ticks(Axis.of([start, start + span], time=True), most)
    sound(ticks)
    assert len(ticks) <= most + 1


def test_a_stretch_that_ends_where_the_calendar_does_has_ticks() -> None:
    sound(time_ticks(Axis.of([90288396800.0, 190288396800.0], time=True), 2))


def test_what_is_no_date_is_told_in_seconds() -> None:
    assert "e" in time_ticks(Axis.of([0.0, 1e300], time=True), 4)[-1].label
