from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from assay.analysis.fields import Fields
from assay.analysis.knee import BEHIND, KNEE

_MOST_TRIALS = 500
_MOST_REASONS = 10


@dataclass(frozen=True)
class RateTrial:
    rate: float
    valid: bool | None
    """Whether the rate was sent and all objectives were met."""
    run: str
    """Label of the run."""
    offered: float | None
    """Queries a second in the schedule that was drawn for the rate."""
    sent: float | None
    """Queries a second that were really sent."""
    reasons: tuple[str, ...]
    """Why it is not valid."""


@dataclass(frozen=True)
class RateSearch:
    """One pipeline at several rates."""

    pipeline: str
    trials: tuple[RateTrial, ...]
    """Trials, the lowest rate first."""
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


def knee(trials: Sequence[RateTrial], p99: Sequence[float | None], throughput: Sequence[float | None]) -> float | None:
    """The last rate before latency rises out of proportion or work is not kept up with; None: none was passed.

    Trials are by rate. The rule is that of the insight about load.
    """
    lowest = p99[0] if p99 else None
    rows = list(zip(trials, p99, throughput, strict=True))
    if not rows or _behind(rows[0][0], rows[0][2]):
        return None
    for (before, *_), (trial, latency, done) in pairwise(rows):
        late = lowest is not None and lowest > 0 and latency is not None and latency > KNEE * lowest
        if late or _behind(trial, done):
            return before.rate
    return None


def _behind(trial: RateTrial, done: float | None) -> bool:
    # A short schedule that is drawn at random may hold fewer queries than its rate says.
    asked = trial.rate if trial.offered is None else min(trial.rate, trial.offered)
    return done is not None and done < BEHIND * asked


def _trial(written: Fields) -> RateTrial | None:
    rate = written.at_least_0("rate")
    if rate is None:
        return None
    offered, sent = written.at_least_0("offered"), written.at_least_0("sent")
    reasons = written.sentences("reasons", _MOST_REASONS)
    return RateTrial(rate, written.flag("valid"), written.text("run"), offered, sent, reasons)
