"""Ticks of a time axis, in UTC and in steps that a calendar has."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from itertools import pairwise

from markupsafe import Markup, escape


@dataclass(frozen=True)
class Tick:
    at: float
    """Where it stands, as a share of its axis."""
    label: str
    under: str = ""
    """A second line: the day of an hour, the year of a month."""

    @property
    def width(self) -> int:
        """Width of the label, in characters."""
        return max(len(self.label), len(self.under))


_SHORTEST_TIME_S = 0.01
_HALF_A_DAY_S = 43_200.0


@dataclass(frozen=True)
class Axis:
    """A stretch of numbers, kept as fractions of a power of two, so that even 1e308 and 5e-324 stay within a float."""

    low: float
    high: float
    exponent: int = 0

    @classmethod
    def of(cls, values: Iterable[float], *, zero: bool = False, pad: float = 0.0, time: bool = False) -> Axis:
        """Holds all `values`, with `pad` of their span at either side. Where they are all equal it is widened."""
        found = [value for value in values if math.isfinite(value)]
        if not found:
            return cls(0.0, 1.0)
        low, high = min(found), max(found)
        if time and high - low < _SHORTEST_TIME_S:
            low, high = low - _HALF_A_DAY_S, high + _HALF_A_DAY_S
        exponent = math.frexp(max(abs(low), abs(high)))[1]
        low, high = math.ldexp(low, -exponent), math.ldexp(high, -exponent)
        if low == high == 0:
            return cls(0.0, 1.0) if zero else cls(-1.0, 1.0)
        margin = (high - low) * pad if high > low else abs(high) * 0.08
        return cls(0.0 if zero and low >= 0 else low - margin, high + margin, exponent)

    def share(self, value: float) -> float:
        """Where a number stands between both ends, from 0 to 1."""
        share = (math.ldexp(value, -self.exponent) - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, share))

    def holds(self, value: float) -> bool:
        return math.isfinite(value) and self.ends[0] <= value <= self.ends[1]

    @property
    def exact(self) -> tuple[Decimal, Decimal]:
        """Both ends; they may lie beyond what a float holds."""
        scale = Decimal(2) ** self.exponent
        return Decimal(self.low) * scale, Decimal(self.high) * scale

    def share_of(self, value: Decimal) -> float:
        low, high = self.exact
        return min(1.0, max(0.0, float((value - low) / (high - low))))

    @property
    def ends(self) -> tuple[float, float]:
        most = Decimal(sys.float_info.max)
        low, high = (float(min(most, max(-most, end))) for end in self.exact)
        return low, high


_WITHIN = Decimal("1e-9")
"""Share of a step by which a tick may lie beyond an end: one that is round but for a float's last bit has its tick."""


def linear_ticks(axis: Axis, most: int) -> list[Tick]:
    """Ticks, at most `most` + 1, in steps of 1, 2 or 5 times a power of ten. Reckoned in decimals, so that none is
    off."""
    low, high = axis.exact
    raw = (high - low) / most
    steps = [Decimal(digit).scaleb(raw.adjusted()) for digit in ("0.5", "1", "2", "5", "10")]
    fits = next(place for place, step in enumerate(steps) if step >= raw * (1 - _WITHIN))
    step = steps[fits]
    if not (values := _multiples(step, low, high)):
        step = steps[fits - 1]  # two steps can be longer than the axis, which then lies between two multiples
        values = _multiples(step, low, high)
    top = max(abs(value) for value in values)
    written = _plain if _is_plain(top, step) else _scientific
    return [Tick(axis.share_of(value), written(value, step)) for value in values]


def _multiples(step: Decimal, low: Decimal, high: Decimal) -> list[Decimal]:
    number = ((low / step) - _WITHIN).to_integral_value(ROUND_CEILING)
    values = []
    while number * step <= high + step * _WITHIN:
        values.append(number * step)
        number += 1
    return values


def _is_plain(top: Decimal, step: Decimal) -> bool:
    """Whether numbers are written plainly: where that is short enough, or shorter than in powers of ten."""
    plain = len(f"{top:,.{_decimals(step)}f}")
    return plain <= 7 or plain <= len(_scientific(top, step))


def _decimals(step: Decimal) -> int:
    return max(0, -step.adjusted())


def _plain(value: Decimal, step: Decimal) -> str:
    return f"{value + 0:,.{_decimals(step)}f}".replace("-", "−")


def _scientific(value: Decimal, step: Decimal) -> str:
    if value == 0:
        return "0"
    mantissa, _, power = f"{value:.{max(0, value.adjusted() - step.adjusted())}e}".partition("e")
    return f"{mantissa.replace('-', '−')}e{int(power)}"


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


_CHARACTER, _APART, _MARGIN = 7, 8, 8
"""Pixels of a digit in the widest of the usual fonts, between two labels, and to the right of the box."""
_NARROW, _WIDE = 190, 420
"""Pixels that the box has at least on a phone, and on a page where all labels are shown."""


@dataclass(frozen=True)
class TickRow:
    """The labels under a box. Nothing is measured where it is drawn, so those that fit on a phone are chosen before."""

    ticks: tuple[Tick, ...]
    left: int
    """Characters of room beside the box."""
    time: bool = False
    """Whether it is a time axis: each label then has a place of its own, since months differ; otherwise all are a step
    apart."""

    @classmethod
    def of(cls, axis: Axis, time: bool, left: int, most: int) -> TickRow:
        found = cls((), left)
        for count in range(most, 1, -1):
            found = cls(tuple(time_ticks(axis, count) if time else linear_ticks(axis, count)), left, time)
            if found._apart(found.ticks, _WIDE, found.narrow()):
                break
        return found

    def narrow(self) -> tuple[Tick, ...]:
        """Those that are shown on a phone too."""
        for stride in range(1, len(self.ticks)):
            shown = self.ticks[::stride]
            if self._apart(shown, _NARROW, shown):
                return shown
        return self.ticks[:1]

    def html(self) -> Markup:
        narrow = self.narrow()
        return Markup(f'<div class="x">{"".join(self._label(tick, tick in narrow) for tick in self.ticks)}</div>')

    @property
    def two_lines(self) -> bool:
        return any(tick.under for tick in self.ticks)

    def _label(self, tick: Tick, narrow: bool) -> str:
        kinds = " ".join(kind for kind in ("" if narrow else "wide", self._side(tick, narrow)) if kind)
        named = f' class="{kinds}"' if kinds else ""
        place = f' style="left:{percent(tick.at)}%"' if self.time else ""
        under = f"<br/>{escape(tick.under)}" if tick.under else ""
        return f"<i{named}{place}>{escape(tick.label)}{under}</i>"

    def _side(self, tick: Tick, narrow: bool) -> str:
        """A label in the middle under its tick would be cut off at either end."""
        width, half = _NARROW if narrow else _WIDE, tick.width * _CHARACTER / 2
        if (1 - tick.at) * width + _MARGIN < half:
            return "end"
        return "start" if tick.at * width + self.left * _CHARACTER < half else ""

    def _apart(self, ticks: Sequence[Tick], width: int, narrow: Sequence[Tick]) -> bool:
        ends = []
        for tick in ticks:
            size = tick.width * _CHARACTER
            start = tick.at * width - {"end": size, "start": 0}.get(self._side(tick, tick in narrow), size / 2)
            ends.append((start, start + size))
        return all(before[1] + _APART <= after[0] for before, after in pairwise(ends))


def percent(share: float, digits: int = 2) -> str:
    return f"{share * 100:.{digits}f}".rstrip("0").rstrip(".")
