from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from assay.analysis.colocation.fields import Fields
from assay.analysis.insights.load import BEHIND, KNEE

_MOST_TRIALS = 500


@dataclass(frozen=True)
class RateTrial:
    rate: float
    valid: bool | None
    """Whether it met its objectives at the rate that was asked."""
    run: str
    """Label of the run."""


@dataclass(frozen=True)
class RateSearch:
    """One pipeline at several rates."""

    pipeline: str
    trials: tuple[RateTrial, ...]
    """By rate."""
    searched: bool
    """Whether the highest rate within the objectives was looked for, not only some rates tried."""
    peak: float | None
    bounded: bool | None
    """Whether a higher rate was tried and failed: otherwise the peak is at least that."""

    @classmethod
    def read(cls, written: Fields) -> RateSearch | None:
        trials = sorted(written.each("trials", _MOST_TRIALS, _trial), key=lambda one: one.rate)
        if not trials:
            return None
        peak = written.inner("peak")
        return cls(
            written.text("pipeline"),
            tuple(trials),
            "rate" in peak.written,
            peak.at_least_0("rate"),
            peak.flag("bounded"),
        )


def knee(rates: Sequence[float], p99: Sequence[float | None], throughput: Sequence[float | None]) -> float | None:
    """The last rate before latency rises out of proportion or work is not kept up with; None: none was passed.

    Rates rise. The rule is that of the insight about load.
    """
    lowest = p99[0] if p99 else None
    rows = list(zip(rates, p99, throughput, strict=True))
    if not rows or _behind(*rows[0][::2]):
        return None
    for (before, *_), (rate, latency, done) in pairwise(rows):
        late = lowest is not None and lowest > 0 and latency is not None and latency > KNEE * lowest
        if late or _behind(rate, done):
            return before
    return None


def _behind(rate: float, done: float | None) -> bool:
    return done is not None and done < BEHIND * rate


def _trial(written: Fields) -> RateTrial | None:
    rate = written.at_least_0("rate")
    return None if rate is None else RateTrial(rate, written.flag("valid"), written.text("run"))
