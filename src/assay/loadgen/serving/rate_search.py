"""One endpoint at several rates: a curve, or the highest rate that meets the objectives."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from assay.errors import UsageError
from assay.loadgen.latency import Trial, find_peak, sweep
from assay.loadgen.serving.load_point import LoadPoint
from assay.loadgen.serving.result_files import RateCurve
from assay.loadgen.serving.run_load import LoadRunner

Tell = Callable[[LoadPoint, bool], None]
"""Hears of each load when it is measured, and whether it counts as kept."""
_SHORTEST_TRIAL_S = 2.5
"""Shortest load in seconds: it takes a while until requests that pile up can be seen."""


@dataclass(frozen=True)
class RatesMeasured:
    points: tuple[LoadPoint, ...]
    curve: RateCurve


class _Stopped(Exception):
    """The load was ended: no other rate is tried."""


class _Trials:
    """Every rate that was tried, in the order of trying."""

    def __init__(self, runner: LoadRunner, tell: Tell) -> None:
        self._runner = runner
        self._tell = tell
        self.tried: list[Trial[LoadPoint]] = []

    def run(self, rate: float) -> Trial[LoadPoint]:
        """Runs a load. Its rate is kept where the load was delivered, by a client with room to spare, and every
        objective was met."""
        if self._runner.stopped and self.tried:
            raise _Stopped
        point = self._runner.run(rate, int(rate * _SHORTEST_TRIAL_S))
        valid = point.verdict.of_server and point.objectives_met and not point.error_count
        trial = Trial(rate, valid and not self._runner.stopped, point)
        self.tried.append(trial)
        self._tell(point, trial.valid)
        return trial

    def collect(self, peak: ConfirmedPeak | None = None) -> RatesMeasured:
        trials = sorted(self.tried, key=lambda trial: trial.rate)
        kept = [trial.valid for trial in trials]
        curve = (
            RateCurve(kept) if peak is None else RateCurve(kept, peak.rate, peak.bounded, peak.rate is not None, True)
        )
        return RatesMeasured(tuple(trial.outcome for trial in trials), curve)


@dataclass(frozen=True)
class ConfirmedPeak:
    """The highest rate that was kept twice; None where there is none."""

    rate: float | None = None
    bounded: bool = False


def sweep_rates(runner: LoadRunner, rates: Sequence[float], tell: Tell) -> RatesMeasured:
    trials = _Trials(runner, tell)
    with suppress(_Stopped):
        sweep(trials.run, rates)
    return trials.collect()


def search_peak(runner: LoadRunner, start: float, tell: Tell, precision: float = 0.05) -> RatesMeasured:
    """Looks for the highest rate that is kept. Each is tried once; the highest kept must be kept a second time,
    otherwise the next lower one counts."""
    trials = _Trials(runner, tell)
    try:
        found = find_peak(trials.run, start, precision)
        kept = sorted((trial.rate for trial in found.trials if trial.valid), reverse=True)
        for rate in kept:
            if trials.run(rate).valid:
                return trials.collect(ConfirmedPeak(rate, found.bounded or rate < kept[0]))
    except _Stopped:
        pass
    return trials.collect(ConfirmedPeak())


def parse_rates(words: str) -> list[float]:
    """`1,2,4,8`, or `1-32` for a doubling from one to the other."""
    span = re.fullmatch(r"([0-9.]+)-([0-9.]+)", words.strip())
    try:
        if span is not None:
            low, high = float(span[1]), float(span[2])
            rates = [low]
            while low > 0 and rates[-1] * 2 < high * 1.0001:
                rates.append(rates[-1] * 2)
            rates += [high] if rates[-1] < high else []
        else:
            rates = [float(word) for word in words.split(",") if word.strip()]
    except ValueError:
        raise UsageError(f"--sweep {words!r}: give rates as 1,2,4 or 1-32") from None
    if not rates or any(not 0 < rate < float("inf") for rate in rates):
        raise UsageError(f"--sweep {words!r}: a rate must be greater than 0")
    return list(dict.fromkeys(rates))
