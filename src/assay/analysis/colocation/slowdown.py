"""When load is past the knee."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from assay.analysis.fields import Fields

KNEE: Final = 2.0
"""Times the latency at the lowest rate."""
BEHIND: Final = 0.95
"""Share of the work asked for; less than it is not kept up with."""

WHAT: Final = ("throughput", "p50", "p99")
_OF_A_STAGE: Final = ("mean", "p50", "p99")
_MOST_BESIDE = 64
_COPY = " (copy)"


@dataclass(frozen=True)
class SlowdownEstimate:
    """How many times worse a pipeline, or one stage of it, is beside others than alone: 1 is no difference."""

    pipeline: str
    beside: tuple[str, ...]
    what: str
    stage: int | None
    estimate: float | None
    low: float | None
    high: float | None
    confidence: float | None
    seconds: float | None
    """The window that was compared."""
    rounds: int
    queries_alone: int
    queries_beside: int
    reason: str
    """Why there is no number, or empty."""

    @classmethod
    def read(cls, written: Fields) -> SlowdownEstimate | None:
        pipeline, beside = written.text("pipeline"), written.texts("beside", _MOST_BESIDE)
        what, stage = written.text("what"), written.whole("stage")
        estimate, low, high = (written.at_least_0(name) for name in ("estimate", "low", "high"))
        known = WHAT if stage is None else _OF_A_STAGE
        if (
            not pipeline
            or not beside
            or what not in known
            or (stage is None and written.written.get("stage") is not None)
        ):
            return None
        if low is None or high is None or not low <= high:
            low = high = None
        return cls(
            pipeline=pipeline, beside=beside, what=what, stage=stage,
            estimate=estimate, low=low, high=high, confidence=written.at_least_0("confidence"),
            seconds=written.at_least_0("seconds"), rounds=written.count("rounds"),
            queries_alone=written.count("queries_alone"), queries_beside=written.count("queries_beside"),
            reason=written.sentence("reason"),
        )  # fmt: skip

    @property
    def slower(self) -> bool | None:
        """Whether the whole interval is above 1 (True) or below it (False); None where it holds 1 or is missing."""
        if self.low is None or self.high is None:
            return None
        return True if self.low > 1 else False if self.high < 1 else None

    @property
    def own_copy(self) -> bool:
        """Whether what ran beside it was the same pipeline again."""
        return is_own_copy(self.pipeline, self.beside)


def is_own_copy(pipeline: str, beside: Sequence[str]) -> bool:
    return all(original(name) == pipeline for name in beside)


def original(name: str) -> str:
    """The pipeline's own name, where `name` is that of a copy that ran beside it; otherwise `name` itself."""
    return name.removesuffix(_COPY)


def copy_of(name: str) -> str:
    return name + _COPY


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
