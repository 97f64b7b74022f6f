"""Ticks of a time axis, in UTC and in steps that a calendar has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from assay.report.svg.axis import Axis
from assay.report.svg.linear_ticks import linear_ticks
from assay.report.svg.tick import Tick

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONDAY = datetime(1970, 1, 5, tzinfo=UTC)
_FIRST_S, _LAST_S = -6e10, 2e11
"""The years 69 to 8307: what comes before or after is no date that a run began."""
_SECOND, _MINUTE, _HOUR, _DAY = 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000
_STEPS = (
    *(m * 10**power for power in range(6) for m in (1, 2, 5)),
    *(m * _SECOND for m in (1, 2, 5, 10, 15, 30)),
    *(m * _MINUTE for m in (1, 2, 5, 10, 15, 30)),
    *(m * _HOUR for m in (1, 2, 3, 6, 12)),
    *(m * _DAY for m in (1, 2, 7, 14)),
)  # fmt: skip
"""Steps between ticks, in microseconds."""
_MONTHS = {1: 28, 2: 59, 3: 89, 6: 181}
"""How many days so many months have at least."""
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def time_ticks(axis: Axis, most: int) -> list[Tick]:
    """Ticks, at most `most` + 1, of an axis in seconds since 1970. What is no date is told in seconds."""
    if axis.ends[0] < _FIRST_S or axis.ends[1] > _LAST_S:
        return linear_ticks(axis, most)
    low, high = (_EPOCH + timedelta(seconds=end) for end in axis.ends)
    raw = (high - low) / most
    step = next((s for s in _STEPS if timedelta(microseconds=s) >= raw), None)
    if step is not None:
        moments, written = list(_regular(low, high, step)), _day if step >= _DAY else _clock(step)
    else:
        months = _months(raw)
        moments, written = list(_by_month(low, high, months)), _year if months >= 12 else _month
    texts = [written(moment) for moment in moments]
    differ = len({under for _, under in texts}) > 1
    return [
        # What all have in common is said once.
        Tick(
            axis.share((moment - _EPOCH) / timedelta(seconds=1)), label, under if differ or moment is moments[0] else ""
        )
        for moment, (label, under) in zip(moments, texts, strict=True)
    ]


def _months(raw: timedelta) -> int:
    years = (m * 10**power for power in range(5) for m in (1, 2, 5))
    few = (months for months, days in _MONTHS.items() if timedelta(days=days) >= raw)
    return next(few, 0) or 12 * next(year for year in years if timedelta(days=365.2425 * year) >= raw)


def _regular(low: datetime, high: datetime, step: int) -> Iterator[datetime]:
    start = _MONDAY if step % (7 * _DAY) == 0 else _EPOCH
    width = timedelta(microseconds=step)
    moment = start + -((start - low) // width) * width
    while moment <= high:
        yield moment
        moment += width


def _by_month(low: datetime, high: datetime, months: int) -> Iterator[datetime]:
    number = -(-(low.year * 12 + low.month - 1) // months) * months
    while number < 12 * 10_000 and (moment := datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)) <= high:
        if moment >= low:
            yield moment
        number += months


Written = Callable[[datetime], tuple[str, str]]


def _clock(step: int) -> Written:
    digits = max(0, 7 - len(str(step)))

    def write_time(at: datetime) -> tuple[str, str]:
        seconds = f":{at.second:02d}" if step < _MINUTE else ""
        part = f".{at.microsecond:06d}"[: digits + 1] if digits else ""
        return f"{at.hour:02d}:{at.minute:02d}{seconds}{part}", f"{_day(at)[0]} {at.year}"

    return write_time


def _day(at: datetime) -> tuple[str, str]:
    return f"{at.day} {_NAMES[at.month - 1]}", str(at.year)


def _month(at: datetime) -> tuple[str, str]:
    return _NAMES[at.month - 1], str(at.year)


def _year(at: datetime) -> tuple[str, str]:
    return str(at.year), ""
