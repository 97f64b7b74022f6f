from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean

from assay.report.text.entry_line import whole_seconds

Expected = Callable[[str], float | None]
"""Seconds that a run of an entry took in earlier sessions; None if it never ran."""


@dataclass(frozen=True)
class TimeLeft:
    seconds: float
    is_all: bool
    """False where entries are to come of which nobody knows how long they take."""

    @property
    def words(self) -> str:
        if not self.seconds:
            return ""
        return f"{whole_seconds(self.seconds)} left" + ("" if self.is_all else " or more")


def time_left(
    left: Mapping[str, int], took: Mapping[str, list[float]], expected: Expected, running: tuple[str, float] | None
) -> TimeLeft:
    """`left`: runs of each entry that are not over; `took`: seconds of those that are; `running`: the entry whose run
    goes on, and since how many seconds."""
    total, is_all = 0.0, True
    for name, count in left.items():
        if not count:
            continue
        each = fmean(took[name]) if took.get(name) else expected(name)
        if each is None:
            is_all = False
            continue
        total += each * count
        if running is not None and running[0] == name:
            total -= min(each, running[1])
    return TimeLeft(total, is_all)
