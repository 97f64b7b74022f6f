"""Shares as people write them: 0.03 is `3%`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from assay.analysis.rules import is_rate, is_time
from assay.record.metric import Better


def share(value: float) -> str:
    """A limit or a spread: `3%`, `12.4%`, `0.05%`."""
    size = abs(value) * 100
    return f"{size:.0f}%" if size >= 100 else f"{size:.3g}%"


def share_in_tenths(value: float) -> str:
    """A change that was measured, in tenths of a per cent: `15.0%`, and two digits where that would be none."""
    size = abs(value) * 100
    if size >= 100:
        return f"{size:.0f}%"
    return f"{size:.1f}%" if size >= 0.05 else f"{size:.2g}%"


@dataclass(frozen=True)
class SideNames:
    """How the two sides of a comparison are spoken of, as the end of a phrase: `only in A`, `12 runs now`."""

    base: str
    head: str


A_AND_B = SideNames("in A", "in B")
"""Names in `compare` and `ab`, which say what A and B are."""
BEFORE_AND_NOW = SideNames("before", "now")
"""Names at the end of a run, where nobody named two sides."""
BASE_AND_HEAD = SideNames("in base", "in head")
"""Names in `judge`, whose arguments are called so."""

Kind = Literal["time", "rate", "cpu", "memory", "bytes", "other"]

_BYTES = re.compile(r"^([kMGTKmgt]i?)?(B|bytes?)$")
_BYTES_NAME = re.compile(r"_([kmgt]i?b|bytes)$", re.IGNORECASE)
_MEMORY = re.compile(r"(^|[._])(rss|mem|vram)($|[._])|memory", re.IGNORECASE)
_CPU = re.compile(r"(^|[._])cpu(_time)?(_s|_seconds)?$", re.IGNORECASE)
_MORE_AND_LESS: dict[Kind, tuple[str, str]] = {
    "time": ("slower", "faster"),
    "rate": ("faster", "slower"),
    "cpu": ("more CPU time", "less CPU time"),
    "memory": ("more memory", "less memory"),
    "bytes": ("more", "less"),
    "other": ("higher", "lower"),
}
_TIMES: dict[Kind, str] = {
    "time": "times as long", "rate": "times as fast", "cpu": "times the CPU time", "memory": "times the memory",
    "bytes": "times as much", "other": "times as high",
}  # fmt: skip
_TWICE = 2.0
"""Ratio from which on a factor says more than per cent: `900% slower` is ten times as long."""


@dataclass(frozen=True)
class MetricWords:
    """How a change of one metric is called. Per cent are always of the value before."""

    kind: Kind
    better: Better | None
    unit: str | None = None

    @classmethod
    def of(cls, metric: str, unit: str | None, better: Better | None) -> MetricWords:
        return cls(_kind(metric, unit, better), better, unit)

    def change(self, ratio: float) -> str:
        """`15.0% slower`, `2.5 times as long`, `no difference`."""
        if ratio == 1:
            return "no difference"
        if ratio >= _TWICE:
            return f"{_factor(ratio)} {_TIMES[self.kind]}"
        if self.kind == "time" and 0 < ratio <= 1 / _TWICE:
            return f"{_factor(1 / ratio)} times as fast"
        return f"{share_in_tenths(ratio - 1)} {_MORE_AND_LESS[self.kind][ratio < 1]}"

    def judge_change(self, ratio: float) -> str:
        """The change and, where its words do not tell, whether that is worse: `12.0% lower, which is worse`."""
        return f"{self.change(ratio)}{self.which_is(ratio - 1)}"

    def which_is(self, by: float) -> str:
        """`by`: above zero if it grew. Nothing where the word for the change says it already, or nobody knows."""
        return "" if self.kind in ("time", "rate") else self.worse_or_better(by)

    def worse_or_better(self, by: float) -> str:
        if self.better is None or not by:
            return ""
        return f", which is {'worse' if (by > 0) == (self.better == 'lower') else 'better'}"

    def end(self, ratio: float) -> str:
        """One end of an interval, in as many digits as it deserves: `33% faster`."""
        change = (ratio - 1) * 100
        if abs(change) < 0.05:
            return "no change"
        if ratio >= _TWICE:
            return f"{_factor(ratio)} {_TIMES[self.kind]}"
        return f"{_digits(ratio - 1)} {_MORE_AND_LESS[self.kind][change < 0]}"

    def range(self, low: float, high: float) -> str:
        """An interval: `9.1% … 13%` where all of it is on the side that the change is on, else with its words;
        nothing where both ends are the same."""
        ends = self.end(low), self.end(high)
        if ends[0] == ends[1]:
            return ""
        if low < 1 < high:
            return " … ".join(ends)
        if high >= _TWICE:
            return f"{_factor(low)} … {_factor(high)} times"
        near, far = sorted((abs(low - 1), abs(high - 1)))
        return f"{_digits(near)} … {_digits(far)}"

    def value(self, value: float) -> str:
        """A value with the unit: `12.4 ms`, `90%`, `450,100 1/s`."""
        number = f"{value:.4g}"
        if 1e4 <= abs(float(number)) < 1e12:  # where four digits would be written as a power of ten
            number = f"{float(number):,.0f}"
        return number if not self.unit else f"{number}{'' if self.unit in ('%', '×') else ' '}{self.unit}"

    def became(self, before: float, after: float) -> str:
        return f"{self.value(before)} → {self.value(after)}"


def _kind(metric: str, unit: str | None, better: Better | None) -> Kind:
    """What kind of metric it is. A time only where less is better: seconds of audio, or time to failure, are none."""
    if better != "higher" and (_BYTES.match(unit or "") or (unit is None and _BYTES_NAME.search(metric))):
        return "memory" if _MEMORY.search(metric) else "bytes"
    if better == "lower" and is_time(metric, unit):
        return "cpu" if _CPU.search(metric) else "time"
    return "rate" if better == "higher" and is_rate(metric, unit) else "other"


def _digits(change: float) -> str:
    size = abs(change) * 100
    return f"{size:.0f}%" if size >= 9.95 else f"{size:.1f}%"


def _factor(ratio: float) -> str:
    return f"{ratio:.0f}" if 100 <= ratio < 1e6 else f"{ratio:.3g}" if ratio >= 10 else f"{ratio:.2f}"
