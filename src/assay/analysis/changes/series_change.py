"""Change points of anybody's numbers: plain sequences in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from assay.analysis.plain_values import plain_numbers
from assay.analysis.verdict import Verdict
from assay.errors import UsageError
from assay.record.metric import Better
from assay.stats.changes.change_points import find_changes

_DIRECTIONS = (None, "higher", "lower")


@dataclass(frozen=True)
class SeriesChange:
    """Indices are those of the values as they were given."""

    index: int
    """The first value at the new level, if it has to be one."""
    earliest: int
    """The first value at the new level lies from here to `latest`, both included, in 95 of 100 changes."""
    latest: int
    before: float
    after: float
    ratio: float | None
    """after ÷ before; None where `before` is 0."""
    better: Better | None = None
    time: Any = None
    """The time given for `index`; None where no times were given."""

    @property
    def verdict(self) -> Verdict | None:
        """None where nothing says which way is better."""
        return worse_or_better(self.before, self.after, self.better)


def worse_or_better(before: float, after: float, better: Better | None) -> Verdict | None:
    if better is None:
        return None
    return Verdict.REGRESSED if (after > before) == (better == "lower") else Verdict.IMPROVED


def change_points(
    values: Sequence[float | None], times: Sequence[Any] | None = None, better: Better | None = None
) -> list[SeriesChange]:
    """Where the level changed, oldest first; `values` in the order they were measured, one a night or session.

    Missing values (None, NaN, infinite) are passed over. Zeros and negative values are data. Three values at a new
    level can be enough; one or two are a spike until there is a third. `times` must not go back; they are handed
    through.
    """
    if better not in _DIRECTIONS:
        raise UsageError(f"better should be 'higher', 'lower' or None, is {better!r}")
    numbers = plain_numbers(values, "values")
    when = None if times is None else _check_times(times, len(numbers))
    there = [i for i, value in enumerate(numbers) if isfinite(value)]
    return [
        SeriesChange(
            there[change.index], there[change.earliest], there[change.latest], change.before, change.after,
            change.ratio, better, None if when is None else when[there[change.index]],
        )
        for change in find_changes([numbers[i] for i in there])
    ]  # fmt: skip


def _check_times(times: Sequence[Any], count: int) -> list[Any]:
    if isinstance(times, str) or not isinstance(times, Iterable):
        raise UsageError(f"times is {times!r}: give one time a value")
    when = list(times)
    if len(when) != count:
        raise UsageError(f"{len(when)} times for {count} values; give one time a value")
    for at in range(1, count):
        try:
            back = bool(when[at] < when[at - 1])
        except TypeError as error:
            raise UsageError(f"times[{at - 1}] and times[{at}] cannot be ordered ({error}); give one kind") from None
        if back:
            raise UsageError(f"times[{at}] is before times[{at - 1}]; sort values and times by time")
    return when
