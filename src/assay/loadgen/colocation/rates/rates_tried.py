from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import UsageError
from assay.loadgen.colocation.colocation import Colocation
from assay.loadgen.colocation.config import ColocationConfig
from assay.loadgen.colocation.rates.rate_trials import RatedRun, RateTrials
from assay.loadgen.colocation.running.colocated_run import ColocatedRun
from assay.loadgen.colocation.save import EventFormat
from assay.loadgen.latency.peak import Peak, Trial, find_peak, sweep


@dataclass(frozen=True)
class RatesTried:
    """One pipeline at several rates; `peak` is the highest it keeps, where that was looked for."""

    pipeline: str
    trials: Sequence[Trial[RatedRun]]
    peak: Peak[RatedRun] | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "pipeline": self.pipeline,
            "trials": [
                {
                    "rate": trial.rate,
                    "valid": trial.valid,
                    "run": trial.outcome.run.label,
                    "offered": trial.outcome.sent.offered,
                    "sent": trial.outcome.sent.sent,
                    "reasons": trial.outcome.reasons,
                }
                for trial in self.trials
            ],
            "peak": None if self.peak is None else {"rate": self.peak.rate, "bounded": self.peak.bounded},
        }

    @property
    def runs(self) -> list[ColocatedRun]:
        return [trial.outcome.run for trial in self.trials]

    @property
    def success(self) -> bool:
        """Every run of a sweep ended well; a search for the peak found one."""
        if self.peak is not None:
            return self.peak.rate is not None
        return all(trial.outcome.run.outcome.success for trial in self.trials)


def search_rates(
    colocation: Colocation, config: ColocationConfig, words: str, peak: bool, events: EventFormat = "none"
) -> RatesTried:
    """`words` are `NAME=R1,R2,…`; for a peak `NAME` or `NAME=START`."""
    name, _, given = words.partition("=")
    trials = RateTrials(colocation, config, name, events)
    rates = _rates(given)
    if not peak:
        if not rates:
            raise UsageError("a sweep needs rates: NAME=100,200,400")
        return RatesTried(name, sweep(trials.run, rates))
    trials.need_objectives()
    found = find_peak(trials.run, rates[0] if rates else trials.rate)
    return RatesTried(name, found.trials, found)


def _rates(words: str) -> list[float]:
    try:
        rates = [float(word) for word in words.split(",") if word]
    except ValueError:
        raise UsageError(f"{words!r} are not rates: give numbers joined by commas") from None
    if any(not rate > 0 for rate in rates):
        raise UsageError("a rate must be greater than 0")
    # A rate that is named twice is run once: each has a folder of its own.
    return list(dict.fromkeys(rates))
