"""One endpoint at several rates: a curve, or the highest rate that meets the objectives."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.errors import UsageError
from assay.loadgen.latency.peak import Trial, find_peak, sweep
from assay.loadgen.serving.kept.serving_file import RateCurve
from assay.loadgen.serving.measured.load_point import LoadPoint
from assay.loadgen.serving.run_load import LoadRunner

Tell = Callable[[LoadPoint, bool], None]
"""Hears of each load when it is measured, and whether it counts as kept."""
_SHORTEST_TRIAL_S = 2.5
"""Length of a load at least: requests that pile up take a while to be seen."""


@dataclass(frozen=True)
class RatesMeasured:
    points: tuple[LoadPoint, ...]
    curve: RateCurve


def sweep_rates(runner: LoadRunner, rates: Sequence[float], tell: Tell) -> RatesMeasured:
    trials = sweep(lambda rate: _try(runner, rate, tell), rates)
    return _measured(trials, RateCurve([trial.valid for trial in trials]))


def search_peak(runner: LoadRunner, start: float, tell: Tell, precision: float = 0.05) -> RatesMeasured:
    """Each rate is tried once; the highest that was kept must be kept a second time, otherwise the next lower one."""
    found = find_peak(lambda rate: _try(runner, rate, tell), start, precision)
    trials = list(found.trials)
    kept = sorted((trial.rate for trial in trials if trial.valid), reverse=True)
    peak, confirmed = None, False
    for rate in kept:
        again = _try(runner, rate, tell)
        trials.append(again)
        if again.valid:
            peak, confirmed = rate, True
            break
    trials.sort(key=lambda trial: trial.rate)
    bounded = found.bounded or (peak is not None and peak < max(kept))
    return _measured(trials, RateCurve([trial.valid for trial in trials], peak, bounded, confirmed, sought=True))


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


def _try(runner: LoadRunner, rate: float, tell: Tell) -> Trial[LoadPoint]:
    """A rate is kept where its load was delivered, by a client with room to spare, and every objective was met."""
    point = runner.run(rate, int(rate * _SHORTEST_TRIAL_S))
    valid = point.verdict.of_server and point.objectives_met and not point.error_count
    tell(point, valid)
    return Trial(rate, valid, point)


def _measured(trials: Sequence[Trial[LoadPoint]], curve: RateCurve) -> RatesMeasured:
    return RatesMeasured(tuple(trial.outcome for trial in trials), curve)
