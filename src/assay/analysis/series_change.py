"""Change points of anybody's numbers: plain sequences in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from assay.analysis.verdict import Verdict
from assay.record.metric import Better
from assay.stats.change_points import find_changes

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
    """Of `index`, where times were given."""

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
        raise ValueError(f"better should be 'higher', 'lower' or None, is {better!r}")
    if times is not None:
        _check_times(times, len(values))
    there = [i for i, value in enumerate(values) if value is not None and isfinite(value)]
    return [
        SeriesChange(
            there[change.index], there[change.earliest], there[change.latest], change.before, change.after,
            change.ratio, better, None if times is None else times[there[change.index]],
        )
        for change in find_changes([float(values[i]) for i in there])  # type: ignore[arg-type]
    ]  # fmt: skip


def _check_times(times: Sequence[Any], count: int) -> None:
    if len(times) != count:
        raise ValueError(f"{len(times)} times for {count} values; give one time a value")
    back = next((i for i in range(1, count) if times[i] < times[i - 1]), None)
    if back is not None:
        raise ValueError(f"times[{back}] is before times[{back - 1}]; sort values and times by time")
