"""The highest rate that still meets the objectives, and the curve that leads there.

Doubling until a rate fails and then halving the gap: each trial is a whole run, so few are needed (as LoadGen's
FindPeakPerformance does).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

_LOWEST = 64
"""The search goes down to the first rate divided by this: if so low a rate fails, the rate is not what is wrong."""


@dataclass(frozen=True)
class Trial(Generic[T]):
    rate: float
    valid: bool
    outcome: T


@dataclass(frozen=True)
class Peak(Generic[T]):
    rate: float | None
    """None: even the lowest rate tried missed an objective."""
    bounded: bool
    """Whether a rate failed; otherwise the peak is higher still."""
    trials: tuple[Trial[T], ...]


def find_peak(
    run: Callable[[float], Trial[T]], start: float, precision: float = 0.05, most_trials: int = 20
) -> Peak[T]:
    """Finds the highest valid rate, to within `precision` of it, or as near as `most_trials` runs come."""
    trials: list[Trial[T]] = []
    good: float | None = None
    bad: float | None = None
    rate = start
    while len(trials) < most_trials:
        trial = run(rate)
        trials.append(trial)
        if trial.valid:
            good = max(good or 0.0, rate)
        else:
            bad = min(bad or rate, rate)
        if good is not None and bad is not None:
            if bad <= good or bad / good <= 1 + precision:
                break
            rate = (good + bad) / 2
        elif bad is None:
            rate *= 2
        elif rate <= start / _LOWEST:
            break
        else:
            rate /= 2
    return Peak(good, bad is not None, tuple(sorted(trials, key=lambda trial: trial.rate)))


def sweep(run: Callable[[float], Trial[T]], rates: Sequence[float]) -> tuple[Trial[T], ...]:
    return tuple(run(rate) for rate in sorted(rates))
